// SPDX-License-Identifier: Apache-2.0
// `softspine check --ranks N`: how the fabric would be spread over N ranks.
#pragma once

#include <cstdint>
#include <string>

#include "control/model/testbed.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

control::Json ranks_json(const control::Testbed& testbed, uint32_t ranks);
std::string ranks_text(const control::Testbed& testbed, uint32_t ranks);

}  // namespace softspine::tools
