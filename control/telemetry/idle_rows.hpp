// SPDX-License-Identifier: Apache-2.0
// What did nothing in a run: in a pod of 15,360 GPUs most hosts and links, and their zeros would be most of the report.
//
//   a host   is idle if all its counters and drops are zero
//   a link   is idle in a direction if it is up, all its counters there are zero, and it is no uplink of a switch that
//            has sent by another one: a share of nothing tells as much as any other
//
// report_json() counts them (`idle`), and leaves out their rows if asked to. leave_out_idle() does it to a report whose
// zeros an expectation has read.
#pragma once

#include <set>
#include <string>

#include "control/telemetry/json.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

enum class IdleRows : uint8_t { kShown, kLeftOut };

struct IdleParts {
  std::set<std::string> hosts;
  std::set<std::string> links;  // by the port that sends
};
IdleParts idle_parts(const FabricSnapshot& snapshot);

void leave_out_idle(Json& report, const FabricSnapshot& snapshot);

}  // namespace softspine::control
