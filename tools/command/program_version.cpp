// SPDX-License-Identifier: Apache-2.0
#include "tools/command/program_version.hpp"

#include <fmt/format.h>

#include "tools/command/commit.hpp"

namespace softspine::tools {

std::string program_version(std::string_view program, std::string_view more) {
  return fmt::format("{} {} (commit {}{}{})", program, SOFTSPINE_VERSION, SOFTSPINE_COMMIT, more.empty() ? "" : ", ",
                     more);
}

}  // namespace softspine::tools
