// SPDX-License-Identifier: Apache-2.0
// Pauses, priority groups, queues and pools as SONiC's CLI prints them (pfcstat, watermarkstat, pg-drop), with the
// switch as a first column. Switches without BUFFER_* tables have no priority groups and no pools.
#pragma once

#include <string>

#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

std::string pfc_counters_table(const FabricSnapshot& snapshot);  // frames that name a priority, on to off, time
std::string priority_group_watermark_table(const FabricSnapshot& snapshot);  // shared memory
std::string group_headroom_table(const FabricSnapshot& snapshot);            // watermark of the headroom
std::string group_drops_table(const FabricSnapshot& snapshot);
std::string queue_watermark_table(const FabricSnapshot& snapshot);
std::string pool_watermark_table(const FabricSnapshot& snapshot);
std::string headroom_pool_watermark_table(const FabricSnapshot& snapshot);
std::string watchdog_table(const FabricSnapshot& snapshot);  // priorities in a storm, or that were
Json watchdog_json(const FabricSnapshot& snapshot);          // the same as JSON

}  // namespace softspine::control
