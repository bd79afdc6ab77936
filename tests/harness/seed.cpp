// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/seed.hpp"

#include <algorithm>
#include <cstdlib>

namespace softspine::tests {

uint64_t seed() {
  const char* text = std::getenv("SOFTSPINE_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 0);
}

uint32_t to_draw(uint32_t usual) {
  const char* text = std::getenv("SOFTSPINE_TESTBEDS");
  if (text != nullptr) return static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
  const char* part = std::getenv("SOFTSPINE_ONE_IN");
  return part == nullptr ? usual : std::max(usual / static_cast<uint32_t>(std::strtoul(part, nullptr, 10)), 1U);
}

uint32_t to_repeat(uint32_t usual) {
  constexpr uint32_t kFew = 100;
  return to_draw(kFew) < kFew ? std::max(usual / 5, 1U) : usual;
}

}  // namespace softspine::tests
