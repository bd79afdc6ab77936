// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/samples.hpp"

#include <cstdlib>

#include "tests/harness/source_root.hpp"

namespace softspine::tests {

Samples samples_of(const char* variable, std::string_view subfolder, std::string_view what) {
  if (const char* asked = std::getenv(variable)) {
    Samples out{.folder = asked, .missing = {}};
    if (!std::filesystem::is_directory(out.folder)) out.missing = std::string(variable) + " names no folder: " + asked;
    return out;
  }
  const std::filesystem::path beside = source_root().parent_path() / "shared" / "thirdparty" / subfolder;
  if (std::filesystem::is_directory(beside)) return {.folder = beside, .missing = {}};
  return {.folder = {},
          .missing = "neither " + std::string(variable) + " nor ../shared/thirdparty has " + std::string(what)};
}

}  // namespace softspine::tests
