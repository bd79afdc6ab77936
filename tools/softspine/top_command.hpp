// SPDX-License-Identifier: Apache-2.0
// `softspine top`: ports and queues of a running fabric, sorted by what hurts.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_top_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
