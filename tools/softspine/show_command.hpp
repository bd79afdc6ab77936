// SPDX-License-Identifier: Apache-2.0
// softspine show: the views of a running fabric (show_views.hpp).
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_show_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
