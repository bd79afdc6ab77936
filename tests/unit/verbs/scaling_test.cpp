// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/scaling.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace softspine::tools {
namespace {

TEST(Spread, SplitsEveryMessageWithoutLosingAByte) {
  for (uint32_t n = 1; n <= 32; ++n) {
    const Spread spread{.scaling = Scaling::kSplit, .queue_pairs = n, .message_bytes = 10'007};
    uint64_t bytes = 0;
    for (uint32_t qp = 0; qp < n; ++qp) {
      bytes += spread.part_bytes(qp);
      EXPECT_LE(spread.part_bytes(qp), spread.largest_part_bytes());
      EXPECT_GE(spread.part_bytes(qp) + 1, spread.largest_part_bytes());
      EXPECT_EQ(spread.parts_over(qp, 5), 5u);
    }
    EXPECT_EQ(bytes, 10'007u) << n;
    EXPECT_EQ(spread.parts(), n);
  }
}

// Dealt one by one, as a sender does it; what a receiver computes from a queue pair and a count must be the same.
TEST(Spread, DealsWholeMessagesInTurn) {
  constexpr uint64_t kMessages = 101;
  for (uint32_t n = 1; n <= 32; ++n) {
    const Spread spread{.scaling = Scaling::kRoundRobin, .queue_pairs = n, .message_bytes = 10'007};
    std::vector<uint64_t> dealt(n);
    for (uint64_t message = 0; message < kMessages; ++message) {
      const uint32_t qp = spread.first_queue_pair(message);
      ASSERT_EQ(spread.message_of(qp, dealt[qp]), message);
      EXPECT_EQ(spread.part_bytes(qp), 10'007u);
      ++dealt[qp];
    }
    for (uint32_t qp = 0; qp < n; ++qp) EXPECT_EQ(spread.parts_over(qp, kMessages), dealt[qp]);
    EXPECT_EQ(spread.parts(), 1u);
  }
}

}  // namespace
}  // namespace softspine::tools
