// SPDX-License-Identifier: Apache-2.0
// Jobs, for `softspine check`: which servers each got, and how much of its traffic goes over which tier.
#pragma once

#include <string>
#include <vector>

#include "control/model/job.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

control::Json jobs_json(const std::vector<control::Job>& jobs);
std::string jobs_text(const std::vector<control::Job>& jobs);

}  // namespace softspine::tools
