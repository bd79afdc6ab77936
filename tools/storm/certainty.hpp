// SPDX-License-Identifier: Apache-2.0
// Whether a node that pauses its neighbour without end is known to be the root, or may hand on what something behind it
// does. A capture shows some links; a root is defended only if nothing that it does not show could be the cause:
//
//   a host            does not forward, so nothing behind it can be. That it is a host is known by the testbed, or by
//   its
//                     name (h3, gpu7), not guessed from the ports that were captured.
//   a switch          if pauses of each of its other ports would be in the capture: the port or its link's other end
//                     was captured, and it is known how many ports the switch has, by the testbed or by our captures
//                     (control/telemetry/pcapng.hpp)
//   what has no name  (a source MAC, "peer of tor1:Ethernet0") never
#pragma once

#include <cstdint>
#include <string>

#include "tools/storm/pause_log.hpp"

namespace softspine::tools::storm {

// Why the node may be no root, as a sentence's end: "it is known by its MAC alone". Empty: it is one.
std::string doubt_about(const PauseLog& log, uint32_t node, uint32_t from);

}  // namespace softspine::tools::storm
