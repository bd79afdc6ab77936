// SPDX-License-Identifier: Apache-2.0
// softspine show, link, inject: what a running fabric is asked through its control socket.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_fabric_commands(CLI::App& app, Status& status);

}  // namespace softspine::tools
