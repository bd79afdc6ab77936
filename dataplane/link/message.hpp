// SPDX-License-Identifier: Apache-2.0
// A packet on its way to a node that somebody else runs. It names its node by number, as the whole fabric knows it, so
// it means the same to another worker and to another process.
#pragma once

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct Message {
  Packet packet;
  Instant at;  // of its arrival
  NodeId to;
  PortNo port;
};

}  // namespace softspine::dataplane
