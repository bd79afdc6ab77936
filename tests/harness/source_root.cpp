// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/source_root.hpp"

namespace softspine::tests {

std::filesystem::path source_root() {
  return SOFTSPINE_SOURCE_ROOT;
}

}  // namespace softspine::tests
