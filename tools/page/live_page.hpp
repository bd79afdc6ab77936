// SPDX-License-Identifier: Apache-2.0
// The live page's files, as they are built into the program (pack.py makes the source).
#pragma once

#include <vector>

#include "control/server/web_target.hpp"

namespace softspine::tools {

std::vector<control::WebFile> live_page();

}  // namespace softspine::tools
