// SPDX-License-Identifier: Apache-2.0
// What `run --http` was asked for, as the web server takes it.
#pragma once

#include <expected>
#include <string>

#include "control/server/web_options.hpp"
#include "tools/softspine/run_arguments.hpp"

namespace softspine::tools {

// With --http. The error is a sentence: what is missing, or the token's file.
std::expected<control::WebOptions, std::string> web_options(const RunArguments& arguments);

}  // namespace softspine::tools
