// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/seed.hpp"

#include <algorithm>
#include <cstdlib>

namespace softspine::tests {

namespace {

uint32_t number_of(const char* variable, uint32_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

}  // namespace

uint64_t seed() {
  const char* text = std::getenv("SOFTSPINE_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 0);
}

uint32_t to_draw(uint32_t usual) {
  const uint32_t one_in = std::max(number_of("SOFTSPINE_ONE_IN", 1), 1U);
  return number_of("SOFTSPINE_TESTBEDS", std::max(usual / one_in, 1U));
}

std::string draws_asked_for() {
  std::string out;
  for (const char* variable : {"SOFTSPINE_TESTBEDS", "SOFTSPINE_ONE_IN"}) {
    const char* text = std::getenv(variable);
    if (text != nullptr) out += std::string(variable) + "=" + text + " ";
  }
  return out;
}

uint32_t to_repeat(uint32_t usual) {
  constexpr uint32_t kFew = 100;
  return to_draw(kFew) < kFew ? std::max(usual / 5, 1U) : usual;
}

}  // namespace softspine::tests
