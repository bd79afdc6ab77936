// SPDX-License-Identifier: Apache-2.0
// softspine view: the page of `run --http` over a recording.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_view_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
