// SPDX-License-Identifier: Apache-2.0
// The hash groups of a switch of a recording at an instant, as `show hash groups` has them of a running fabric
// (analysis/explain/hash_groups.hpp): the groups are those that the switch had then, and what their ports had sent is
// the caller's.
#pragma once

#include <functional>
#include <string>

#include "analysis/explain/hash_groups.hpp"
#include "control/record/database.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::analysis {

// Null: there is no such switch. `recording` has what went wrong.
control::Json recorded_hash_groups(control::Database& recording, const std::string& node, int64_t at_ps,
                                   const std::function<PortSent(uint32_t port)>& sent_by);

}  // namespace softspine::analysis
