// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/error_list.hpp"

#include <algorithm>

#include "tools/command/complain.hpp"

namespace softspine::tools {

void print_list(const control::Errors& errors, const char* what) {
  for (size_t i = 0; i < std::min(errors.size(), kErrorsShown); ++i) {
    control::Error error = errors[i];
    error.message = what + error.message;
    complain("{}\n", control::to_string(error));
  }
  if (errors.size() > kErrorsShown) complain("softspine: {} more like these\n", errors.size() - kErrorsShown);
}

}  // namespace softspine::tools
