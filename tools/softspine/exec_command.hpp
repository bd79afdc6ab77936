// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

// exec, shell and cp.
void add_exec_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
