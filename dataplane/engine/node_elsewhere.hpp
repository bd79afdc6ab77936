// SPDX-License-Identifier: Apache-2.0
// A node that another rank runs: its place in the numbering, and the far ends of links that lead to it. It never runs,
// and nothing arrives at it: packets for it leave by an Outbox.
#pragma once

#include "dataplane/link/node.hpp"

namespace softspine::dataplane {

class NodeElsewhere final : public Node {
 public:
  using Node::Node;
  Instant run(Instant) noexcept override { return Instant::never(); }
};

}  // namespace softspine::dataplane
