// SPDX-License-Identifier: Apache-2.0
// Rows of parts that did nothing in a run: in a pod of 15,360 GPUs most hosts and links, and their zeros would be most
// of the report.
//
//   a host   is idle if all its counters and drops are zero
//   a link   is idle in a direction if it is up, all its counters there are zero, and it is not an uplink of a switch
//            that has sent by another uplink: there a share of 0 is a result
//
// report_json() counts idle hosts and links (`idle`), and leaves out their rows if asked to. leave_out_idle() removes
// the rows from a finished report, after expectations have read their zeros.
#pragma once

#include <set>
#include <string>

#include "control/telemetry/json_fwd.hpp"
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
