// SPDX-License-Identifier: Apache-2.0
// SONiC's tables, for `softspine check`: headrooms, and what was read over.
#pragma once

#include <string>
#include <vector>

#include "control/compile/headroom_list.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

std::string headrooms_text(const std::vector<control::HeadroomRow>& rows);
control::Json headrooms_json(const std::vector<control::HeadroomRow>& rows);

std::string ignored_text(const std::vector<control::IgnoredPart>& parts);
control::Json ignored_json(const std::vector<control::IgnoredPart>& parts);

}  // namespace softspine::tools
