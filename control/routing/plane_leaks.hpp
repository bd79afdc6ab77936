// SPDX-License-Identifier: Apache-2.0
// Whether planes are apart: whether a packet that leaves a host with two ports on one plane may arrive on another.
//
// The planes are those of the ToRs of hosts whose ports lead to different ones. A leak is a way up, then down, as
// routes take it (routes.hpp), from such a ToR to one of another plane, over any links: routes take it once the shorter
// ones are gone, or at once if it is as short. Pure; the time is that of a look at each link, for each plane.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "control/model/fabric.hpp"

namespace softspine::control {

// Nodes from the ToR of one plane to that of another: one of the shortest ways. `meet_in_core`: planes may meet in core
// switches, and a way through one is no leak.
std::optional<std::vector<uint32_t>> find_plane_leak(const Fabric& fabric, bool meet_in_core);

}  // namespace softspine::control
