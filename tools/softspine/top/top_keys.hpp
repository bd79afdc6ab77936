// SPDX-License-Identifier: Apache-2.0
// The keys of `softspine top`: what they change.
#pragma once

#include <string_view>

#include "tools/softspine/top/top_view.hpp"

namespace softspine::tools {

// `typed`: what a terminal has sent, of which no key is cut in two. `page`: rows of the screen. False: quit.
bool press(std::string_view typed, size_t page, TopSettings& settings);

}  // namespace softspine::tools
