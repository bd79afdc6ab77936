// SPDX-License-Identifier: Apache-2.0
// `softspine top` without a screen: two looks, one table or JSON.
#pragma once

#include <chrono>
#include <expected>
#include <string>

#include "control/telemetry/json_fwd.hpp"
#include "tools/softspine/top/fabric_watch.hpp"
#include "tools/softspine/top/top_view.hpp"

namespace softspine::tools {

// Two looks, that far apart; one, if the fabric ends in between. Error: there was no look at all.
std::expected<TopLooks, std::string> look_twice(FabricWatch& watch, std::chrono::nanoseconds every);

std::string top_text(const control::PortMap& map, const TopLooks& looks, const TopSettings& settings, size_t most);
control::Json top_json(const control::PortMap& map, const TopLooks& looks, const TopSettings& settings, size_t most);

}  // namespace softspine::tools
