// SPDX-License-Identifier: Apache-2.0
// The options of a capture: `softspine run --capture…` and `softspine capture start` have the same.
#pragma once

#include "testbeds/run/fabric_capture.hpp"
#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

// `prefix` is "--capture-" or "--"; `needs` may be null.
void add_capture_options(CLI::App& command, testbeds::CaptureRequest& out, const std::string& prefix,
                         CLI::Option* needs);

}  // namespace softspine::tools
