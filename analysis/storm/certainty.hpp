// SPDX-License-Identifier: Apache-2.0
// Whether a node that pauses its neighbour without end is known to be the root, or may only pass on a pause from behind
// it. A capture shows only some links; a node is certain to be the root only if no link that was not captured could
// hold the cause:
//
//   a host            does not forward, so the cause cannot be behind it. That it is a host is known from the testbed
//                     or from its name (h3, gpu7), not guessed from the ports that were captured. A filter may have
//                     left out its XONs, though.
//   a switch          if pauses of each of its other ports would be in the capture: the port or its link's other end
//                     was captured, and the number of the switch's ports is known, from the testbed or from our
//                     captures (control/capture/pcapng.hpp); and no pause can be missing: no frame is said to be
//                     lost, none was cut short or had to be left out, no filter chose among them but one that is
//                     known to take every pause frame, and times never run backwards; and capture and testbed agree on
//                     its links; and of several captures, each that one of its ports is in spans the storm, and their
//                     clocks agree to within a tenth of it; and no frame may have been lost in silence (hidden_causes)
//   what has no name  (a source MAC, "peer of tor1:Ethernet0") never
#pragma once

#include <cstdint>
#include <string>

#include "analysis/storm/pause_log.hpp"

namespace softspine::analysis::storm {

// Why the node may not be the root, as the end of a sentence: "it is known by its MAC alone". Empty: it is the root.
// `time`: of its pauses.
std::string doubt_about(const PauseLog& log, uint32_t node, uint32_t from,
                        const CapturedTime& time = {.from = {}, .until = {}});

}  // namespace softspine::analysis::storm
