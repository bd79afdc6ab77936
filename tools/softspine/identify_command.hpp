// SPDX-License-Identifier: Apache-2.0
// softspine identify: which hash a switch uses, from flows and the links that they took.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_identify_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
