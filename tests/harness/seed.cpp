// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/seed.hpp"

#include <cstdlib>

namespace softspine::tests {

uint64_t seed() {
  const char* text = std::getenv("SOFTSPINE_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 0);
}

uint32_t to_draw(uint32_t usual) {
  const char* text = std::getenv("SOFTSPINE_TESTBEDS");
  return text == nullptr ? usual : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

}  // namespace softspine::tests
