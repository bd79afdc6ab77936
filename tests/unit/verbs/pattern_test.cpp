// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/pattern.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace softspine::tools {
namespace {

std::vector<uint8_t> filled(size_t bytes, uint64_t key) {
  std::vector<uint8_t> out(bytes);
  fill_pattern(out, key);
  return out;
}

TEST(Pattern, IsRightAsItWasFilledWhateverTheLength) {
  for (size_t bytes = 0; bytes < 40; ++bytes) EXPECT_EQ(wrong_bytes(filled(bytes, 7), 7), 0u) << bytes;
}

TEST(Pattern, CountsEachByteThatIsDifferent) {
  for (const size_t bytes : {1u, 7u, 8u, 9u, 64u, 1'003u}) {
    const auto right = filled(bytes, 99);
    for (size_t i = 0; i < bytes; ++i) {
      auto wrong = right;
      wrong[i] ^= 0x10;
      EXPECT_EQ(wrong_bytes(wrong, 99), 1u) << i << " of " << bytes;
    }
    auto all = right;
    for (uint8_t& byte : all) byte = static_cast<uint8_t>(~byte);
    EXPECT_EQ(wrong_bytes(all, 99), bytes);
  }
}

// What another message, queue pair or run has left there agrees by chance only: a byte in 256.
TEST(Pattern, DiffersBetweenMessagesQueuePairsAndRuns) {
  constexpr size_t kBytes = 65'536;
  const auto bytes = filled(kBytes, pattern_key(1, 2, 3));
  for (const uint64_t other :
       {pattern_key(1, 3, 3), pattern_key(1, 2, 4), pattern_key(2, 2, 3), pattern_key(1, 3, 2)}) {
    EXPECT_GT(wrong_bytes(bytes, other), kBytes * 97 / 100);
  }
  EXPECT_GT(wrong_bytes(std::vector<uint8_t>(kBytes), pattern_key(1, 2, 3)), kBytes * 97 / 100) << "never written";
}

TEST(Pattern, IsNotTheSameOneWordOn) {
  const auto bytes = filled(80, 5);
  EXPECT_GT(wrong_bytes(std::span{bytes}.subspan(8), 5), 60u) << "a part that begins too late";
}

}  // namespace
}  // namespace softspine::tools
