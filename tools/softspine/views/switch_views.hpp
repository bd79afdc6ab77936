// SPDX-License-Identifier: Apache-2.0
// The views of `softspine show` of what one switch has decided and learned: its routes, its overrides, its neighbours
// (ARP, ND), its forwarding database (MAC). Each is an array of objects; as_table() makes the columns for people.
#pragma once

#include <span>
#include <string>

#include "control/telemetry/json_fwd.hpp"
#include "tools/softspine/views/show_views.hpp"

namespace softspine::tools {

std::span<const View> switch_views();

// A table of an array of objects with the same keys: a line for each object, the keys as header.
std::string as_table(const control::Json& rows);

}  // namespace softspine::tools
