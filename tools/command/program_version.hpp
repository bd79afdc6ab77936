// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace softspine::tools {

// "softspine 0.3.0 (commit 52422c3b56de)": what --version prints. `more`: what else it was made with.
std::string program_version(std::string_view program, std::string_view more = {});

}  // namespace softspine::tools
