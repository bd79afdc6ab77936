// SPDX-License-Identifier: Apache-2.0
// softspine import: another system's topology files as a testbed.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_import_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
