// SPDX-License-Identifier: Apache-2.0
#include "control/config/error.hpp"

namespace softspine::control {

std::string to_string(const Error& error) {
  std::string out = error.file;
  if (error.line > 0) out += ":" + std::to_string(error.line) + ":" + std::to_string(error.column);
  if (!error.path.empty()) out += ": " + error.path;
  return out + ": " + error.message;
}

}  // namespace softspine::control
