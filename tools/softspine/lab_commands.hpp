// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

// down, ls and logs.
void add_lab_commands(CLI::App& app, Status& status);

}  // namespace softspine::tools
