// SPDX-License-Identifier: Apache-2.0
// softspine explain: every hop of a packet, and why it goes there.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_explain_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
