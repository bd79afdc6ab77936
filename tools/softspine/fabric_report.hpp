// SPDX-License-Identifier: Apache-2.0
// The fabric as a graph, for `softspine check`: paths to choose from, and what blocks.
#pragma once

#include <string>

#include "control/model/testbed.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

control::Json paths_json(const control::Fabric& fabric);
std::string paths_text(const control::Json& paths);

control::Json staged_json(const std::vector<control::StagedFabric>& staged);
std::string staged_text(const std::vector<control::StagedFabric>& staged);

}  // namespace softspine::tools
