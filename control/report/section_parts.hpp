// SPDX-License-Identifier: Apache-2.0
// The functions in the rows of sections.cpp: the JSON of each section that has no header of its own (report.cpp), and
// the meanings of its fields (report_fields.cpp).
#pragma once

#include "control/report/report.hpp"
#include "control/report/report_fields.hpp"

namespace softspine::control {

using Fields = std::vector<ReportField>;

Json totals_json(const FabricSnapshot& snapshot);
Json switches_json(const FabricSnapshot& snapshot);
Json hosts_json(const FabricSnapshot& snapshot, const IdleParts* left_out);
Json edges_json(const FabricSnapshot& snapshot);
Json losses_json(const FabricSnapshot& snapshot);
Json stalled_json(const FabricSnapshot& snapshot);
Json deadlocks_json(const FabricSnapshot& snapshot);
Json engine_json(const EngineSnapshot& engine, const RunFacts& facts);
Json engineering_json(const EngineeringSnapshot& engineering);

Fields program_fields();
Fields total_fields();
Fields flow_fields();
Fields switch_fields();
Fields port_fields();
Fields link_fields();
Fields host_fields();
Fields idle_fields();
Fields edge_fields();
Fields loss_fields();
Fields stalled_fields();
Fields deadlock_fields();
Fields error_fields();
Fields notice_fields();
Fields engine_fields();
Fields engineering_fields();
Fields event_fields();

}  // namespace softspine::control
