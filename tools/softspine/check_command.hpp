// SPDX-License-Identifier: Apache-2.0
// softspine check FILE: everything wrong with it, or what it would build.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_check_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
