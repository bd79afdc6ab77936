// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

// softspine sweep: runs a testbed with each combination of settings.
void add_sweep_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
