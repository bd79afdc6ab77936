// SPDX-License-Identifier: Apache-2.0
// softspine report RECORDING: one HTML page about a recorded run.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_report_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
