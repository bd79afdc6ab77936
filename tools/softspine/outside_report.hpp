// SPDX-License-Identifier: Apache-2.0
// The settings that hosts that are not built in have to be configured with: addresses, gateway, MAC, MTU.
#pragma once

#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

std::string outside_addresses_text(const control::Fabric& fabric, const std::vector<uint32_t>& hosts);
control::Json outside_addresses_json(const control::Fabric& fabric, const std::vector<uint32_t>& hosts);

}  // namespace softspine::tools
