// SPDX-License-Identifier: Apache-2.0
// Deficit weighted round robin, turn by turn.
#include "dataplane/egress/dwrr_scheduler.hpp"

#include <gtest/gtest.h>

#include <array>

#include "dataplane/egress/shaper.hpp"

namespace softspine::dataplane {
namespace {

constexpr uint32_t kFrame = 256;  // one quantum

std::array<QueueSchedule, kQueues> weights(std::array<uint8_t, kQueues> of) {
  std::array<QueueSchedule, kQueues> queues;
  for (uint32_t q = 0; q < kQueues; ++q) queues[q] = {.strict = false, .weight = of[q]};
  return queues;
}
uint8_t serve(DwrrScheduler& turns, uint8_t ready, uint32_t bytes = kFrame, bool empty = false) {
  const uint8_t queue = turns.pick(ready);
  turns.sent(queue, bytes, empty);
  return queue;
}

// Queue 0 has credit for 100 frames, sends one and is empty. When it has frames again its turn is one turn: 100.
TEST(DwrrScheduler, AQueueThatRunsEmptyLosesTheCreditThatItHasLeft) {
  DwrrScheduler turns;
  turns.plan(weights({100, 1, 1, 1, 1, 1, 1, 1}));
  ASSERT_EQ(serve(turns, 0b11, kFrame, true), 1);  // queue 0 had no credit yet: the next after it
  ASSERT_EQ(serve(turns, 0b01, kFrame, true), 0);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(serve(turns, 0b10), 1);
  int in_a_row = 0;
  while (serve(turns, 0b11) == 0) ++in_a_row;
  EXPECT_EQ(in_a_row, 100);
}

TEST(DwrrScheduler, WhatAQueueOwesItStillOwesWhenItWasEmpty) {
  DwrrScheduler turns;
  turns.plan(weights({1, 1, 1, 1, 1, 1, 1, 1}));
  ASSERT_EQ(serve(turns, 0b01, 10 * kFrame, true), 0);  // overdraws by nine quanta
  int others = 0;
  while (serve(turns, 0b11) == 1) ++others;
  EXPECT_EQ(others, 10) << "nine turns to pay back, and the tenth of its own";
}

// It has credit left, and is paused in the middle of its turn.
TEST(DwrrScheduler, AQueueThatMayNotSendIsPassedOver) {
  DwrrScheduler turns;
  turns.plan(weights({100, 1, 1, 1, 1, 1, 1, 1}));
  ASSERT_EQ(serve(turns, 0b01), 0);
  EXPECT_EQ(serve(turns, 0b10), 1);
  EXPECT_EQ(serve(turns, 0b100), 2);
}

TEST(DwrrScheduler, QueuesThatAlwaysHaveSomethingShareBytesByTheirWeights) {
  DwrrScheduler turns;
  const std::array<uint8_t, kQueues> of{1, 2, 3, 5, 8, 13, 21, 34};
  turns.plan(weights(of));
  std::array<uint64_t, kQueues> bytes{};
  constexpr int kRounds = 50;
  uint64_t all = 0;
  for (const uint8_t weight : of) all += uint64_t{weight} * kFrame;
  for (uint64_t sent = 0; sent < all * kRounds; sent += kFrame) bytes[serve(turns, 0xff)] += kFrame;
  for (uint32_t q = 0; q < kQueues; ++q) {
    EXPECT_NEAR(static_cast<double>(bytes[q]), of[q] * kFrame * kRounds, of[q] * kFrame + kFrame) << q;
  }
}

// `burst` bytes at once after a rest, then one frame each time the rate has let one out.
TEST(Shaper, LetsABurstThroughAndThenHoldsTheRate) {
  Shaper shaper;
  shaper.set(Rate::gbps(8), 3'000);  // a byte a nanosecond
  Instant now = Instant::at(Duration::us(50));
  for (int i = 0; i < 4; ++i) {
    EXPECT_LE(shaper.eligible(), now) << "frame " << i << ": the bucket is not below zero";
    shaper.sent(1'000, now);
  }
  EXPECT_EQ(shaper.eligible(), now + Duration::ns(1'000));
  now = now + Duration::us(100);  // a rest: the bucket is full, and no fuller
  for (int i = 0; i < 4; ++i) {
    EXPECT_LE(shaper.eligible(), now);
    shaper.sent(1'000, now);
  }
  EXPECT_EQ(shaper.eligible(), now + Duration::ns(1'000));
}

}  // namespace
}  // namespace softspine::dataplane
