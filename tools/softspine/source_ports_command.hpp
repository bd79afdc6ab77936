// SPDX-License-Identifier: Apache-2.0
// softspine source-ports: source ports whose paths share no link between switches.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_source_ports_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
