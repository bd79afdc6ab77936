// SPDX-License-Identifier: Apache-2.0
// softspine show, link, inject: the requests to a running fabric through its control socket.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_fabric_commands(CLI::App& app, Status& status);

}  // namespace softspine::tools
