// SPDX-License-Identifier: Apache-2.0
// Flows of a recording, and their ways at an instant, as `show flow paths` has them of a running fabric
// (tools/softspine/views/flow_path_view.hpp), with null where a recording has nothing:
//
//   sent_bytes, cnps   at an instant only of reliable connections; of open loops at the end of the run
//   others             what was received, marked and sent again: at the end
//   lacks              a sentence about that; not there if nothing is missing
// The rows are those of the kMostRanked flows that have sent most in the whole run; `sent_bytes` is null beyond.
#pragma once

#include <cstdint>
#include <string>

#include "control/record/database.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::analysis {

struct WantedFlows {
  std::string port;  // only flows that leave by it; empty: all
  std::string node;  // only flows from or to this host; empty: of all
  int64_t at_ps = 0;
  int64_t most = 20;    // rows
  bool is_end = false;  // the instant is the end of the run
};

inline constexpr int64_t kMostRanked = 2'000;

// Null: there is no such port or host. `recording` has what went wrong.
control::Json recorded_flow_paths(control::Database& recording, const WantedFlows& wanted);

}  // namespace softspine::analysis
