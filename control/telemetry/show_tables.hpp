// SPDX-License-Identifier: Apache-2.0
// The output of `softspine show …`: a snapshot as tables, with sums since the start of the run. Rows are in the
// snapshot's order. `only_switch` keeps that switch's rows alone; a name that does not exist has none.
#pragma once

#include <string>
#include <string_view>

#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

std::string interfaces_table(const FabricSnapshot& snapshot, std::string_view only_switch = {});
// Queues that have seen a frame.
std::string queues_table(const FabricSnapshot& snapshot, std::string_view only_switch = {});
// One row per place, port and reason that occurred; what was consumed is marked as such. Hosts and edges, too.
std::string drops_table(const FabricSnapshot& snapshot, std::string_view only_switch = {});
// The counters of hashing.
std::string hash_table(const FabricSnapshot& snapshot, std::string_view only_switch = {});
std::string flows_table(const FabricSnapshot& snapshot);
// The NICs of hosts that are outside.
std::string nics_table(const FabricSnapshot& snapshot);
std::string links_table(const FabricSnapshot& snapshot);

}  // namespace softspine::control
