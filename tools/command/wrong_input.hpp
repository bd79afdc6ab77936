// SPDX-License-Identifier: Apache-2.0
// What a command does with an input that it cannot use: it says why on stderr, and ends.
#pragma once

#include <string>

#include "tools/command/complain.hpp"
#include "tools/command/exit_status.hpp"

namespace softspine::tools {

inline ExitStatus wrong_input(const std::string& why) {
  complain("softspine: {}\n", why);
  return ExitStatus::kWrongInput;
}

}  // namespace softspine::tools
