// SPDX-License-Identifier: Apache-2.0
// `softspine show fabric`: a running fabric's name, clock and time, its control socket, and its errors.
#pragma once

#include "tools/softspine/views/show_views.hpp"

namespace softspine::tools {

control::Json fabric_json(const Shown& shown);
std::string fabric_text(const Shown& shown);

}  // namespace softspine::tools
