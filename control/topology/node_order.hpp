// SPDX-License-Identifier: Apache-2.0
// The order of a fabric's nodes: each switch, in the order of its file or generator, then the hosts that are at home
// there. A host's home is its first ToR, or else its first switch; a host without a switch stands where it was.
#pragma once

#include <vector>

#include "control/generators/draft.hpp"

namespace softspine::control {

// Indices into draft.nodes.
std::vector<uint32_t> fabric_order(const Draft& draft);

}  // namespace softspine::control
