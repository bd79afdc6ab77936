// SPDX-License-Identifier: Apache-2.0
// softspine run FILE: builds the testbed, runs it, reports, and judges whether the result was as expected.
#pragma once

#include "tools/softspine/arguments.hpp"
#include "tools/softspine/run_arguments.hpp"

namespace softspine::tools {

void add_run_command(CLI::App& app, Status& status);

// A testbed that has been read and reviewed.
Status run_testbed(const RunArguments& arguments, const control::Testbed& testbed);

}  // namespace softspine::tools
