// SPDX-License-Identifier: Apache-2.0
// softspine inject: frames that arrive at a port of a running fabric, and faults of its cables, ports and hosts.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_inject_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
