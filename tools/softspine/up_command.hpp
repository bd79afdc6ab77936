// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_up_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
