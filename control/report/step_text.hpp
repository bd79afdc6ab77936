// SPDX-License-Identifier: Apache-2.0
// What ranks did and waited for (control/telemetry/steps_snapshot.hpp), in words and as JSON. The keys of the JSON
// are in docs/counters.md.
#pragma once

#include <string>
#include <vector>

#include "control/steps/wait_text.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/steps_snapshot.hpp"

namespace softspine::control {

Json steps_json(const StepsSnapshot& steps, const std::string& testbed);
// Of each job the ranks with the longest waits, 64 at most, with that wait and its reason; and what all waits were for.
Json waits_json(const StepsSnapshot& steps);
inline constexpr size_t kRanksWithSpans = 16;
// Of each job what ranks_to_draw(job, kRanksWithSpans) did: by kind of step the spans [from_ps, to_ps, busy_ps].
Json spans_json(const StepsSnapshot& steps);
// All ranks; if they are more than `most`, those with the longest waits, the longest first.
std::vector<const RankSteps*> ranks_to_draw(const JobSteps& job, size_t most);
// The ranks that waited longest, and what for; then what all waits were for.
std::string steps_table(const StepsSnapshot& steps);

}  // namespace softspine::control
