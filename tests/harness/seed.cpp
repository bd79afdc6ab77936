// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/seed.hpp"

#include <cstdlib>

namespace softspine::tests {

uint64_t seed() {
  const char* text = std::getenv("SOFTSPINE_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 0);
}

}  // namespace softspine::tests
