// SPDX-License-Identifier: Apache-2.0
// softspine storm FILE: who paused whom, for how long, from which root.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_storm_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
