// SPDX-License-Identifier: Apache-2.0
// softspine run FILE: builds the testbed, runs it, says what it did, and whether that was as expected.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_run_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
