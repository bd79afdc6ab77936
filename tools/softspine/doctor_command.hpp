// SPDX-License-Identifier: Apache-2.0
// softspine doctor [FILE]: whether this machine has what a testbed asks, and how to mend what is missing.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_doctor_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
