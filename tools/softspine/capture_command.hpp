// SPDX-License-Identifier: Apache-2.0
// softspine capture: start, stop and list captures of a running fabric.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_capture_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
