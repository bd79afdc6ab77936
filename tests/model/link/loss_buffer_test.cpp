// SPDX-License-Identifier: Apache-2.0
// Records of lost packets: none is missing, however late the buffer is emptied.
#include "dataplane/packet/loss_buffer.hpp"

#include <gtest/gtest.h>

namespace softspine::dataplane {
namespace {

TEST(LossBuffer, AsksToBeEmptiedAtItsNumberAndHoldsWhatComesUntilThen) {
  std::atomic<bool> wants_rest{false};
  LossBuffer buffer{3, wants_rest};
  for (int round = 0; round < 2; ++round) {
    wants_rest = false;
    for (uint32_t i = 0; i < 1'000; ++i) {
      EXPECT_EQ(wants_rest, i >= 3);
      buffer.add({.at = Instant::at_ps(i), .node = i});
    }
    uint32_t next = 0;
    buffer.take([&](const LossRecord& record) { ASSERT_EQ(record.node, next++); });
    EXPECT_EQ(next, 1'000u);
  }
}

}  // namespace
}  // namespace softspine::dataplane
