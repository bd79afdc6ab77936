// SPDX-License-Identifier: Apache-2.0
// softspine reproduce NAME…: runs figures and tables of papers, and shows ours beside the paper's.
#pragma once

#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

void add_reproduce_command(CLI::App& app, Status& status);

}  // namespace softspine::tools
