// SPDX-License-Identifier: Apache-2.0
// A command that cannot use its input prints the reason on stderr, and ends.
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
