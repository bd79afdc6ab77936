// SPDX-License-Identifier: Apache-2.0
#include "dataplane/flow_control/credit_link.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

constexpr uint8_t kBit = 0x08;
constexpr uint8_t kPriority = 3;
constexpr uint32_t kCell = 256;
constexpr uint32_t kLargest = 1024;  // four cells

Instant us(int64_t n) {
  return Instant::at(Duration::us(n));
}
CreditPlan plan_of(uint16_t room, uint8_t priorities = kBit) {
  CreditPlan plan{.priorities = priorities, .largest_frame = kLargest, .cell = CellSize{kCell}};
  plan.room.fill(room);
  return plan;
}
CreditLink end_with(uint16_t room) {
  CreditLink end;
  end.plan(plan_of(room), Instant{});
  return end;
}

TEST(CreditLink, MayNotSendBeforeItHasHeardAndThenAsFarAsTheLimit) {
  CreditLink receiver = end_with(10);
  CreditLink sender = end_with(10);
  EXPECT_EQ(sender.starved(), kBit);
  ASSERT_EQ(receiver.frame_at(), Instant{}) << "its room is news";
  sender.receive(receiver.make_frame(), us(1));
  EXPECT_FALSE(receiver.owes_frame());
  EXPECT_EQ(sender.starved(), 0);
  sender.sent(kPriority, 1024, us(1));  // 4 of 10: 6 are left
  EXPECT_EQ(sender.starved(), 0);
  sender.sent(kPriority, 257, us(2));  // 2 more: 4 are left, the largest frame fits
  EXPECT_EQ(sender.starved(), 0);
  sender.sent(kPriority, 1, us(3));
  EXPECT_EQ(sender.starved(), kBit) << "three cells are left: the largest frame needs four";
  EXPECT_EQ(sender.starved_time(Priority{kPriority}, us(5)), Duration::us(1 + 2)) << "at the start, and since 3 us";
}

TEST(CreditLink, WhatTheOtherEndGrantsNoCreditForIsNotHeldBack) {
  CreditLink receiver;
  receiver.plan(plan_of(10, 0x10), Instant{});
  CreditLink sender;
  sender.plan(plan_of(10, 0x18), Instant{});
  EXPECT_EQ(sender.starved(), 0x18) << "nothing is known of the other end";
  sender.receive(receiver.make_frame(), us(1));
  for (int i = 0; i < 20; ++i) {
    sender.sent(kPriority, kLargest, us(2));
    EXPECT_EQ(sender.starved(), 0) << i;
  }
  sender.sent(4, kLargest, us(3));
  sender.sent(4, kLargest, us(3));
  EXPECT_EQ(sender.starved(), 0x10);
}

TEST(CreditLink, TellsWhenAQuarterOfTheRoomHasComeBack) {
  CreditLink receiver = end_with(16);
  (void)receiver.make_frame();
  receiver.received(kPriority, 2048);
  receiver.holds(kPriority, 8, us(1));
  EXPECT_FALSE(receiver.owes_frame()) << "what has come is held: the limit is as it was";
  receiver.holds(kPriority, 5, us(2));
  EXPECT_FALSE(receiver.owes_frame());
  receiver.holds(kPriority, 4, us(3));
  ASSERT_EQ(receiver.frame_at(), us(3));
  EXPECT_EQ(receiver.make_frame().limit[kPriority], 16 + 4);
}

TEST(CreditLink, AsksAfter50UsWithoutCreditAndIsAnswered) {
  CreditLink receiver = end_with(8);
  CreditLink sender = end_with(8);
  (void)sender.make_frame();
  (void)receiver.make_frame();  // lost
  EXPECT_EQ(sender.ask_at(), us(50));
  sender.ask(us(50));
  EXPECT_EQ(sender.ask_at(), us(100)) << "and again";
  const CreditFrame question = sender.make_frame();
  EXPECT_TRUE(question.asks);
  receiver.receive(question, us(51));
  ASSERT_TRUE(receiver.owes_frame());
  const CreditFrame answer = receiver.make_frame();
  EXPECT_FALSE(answer.asks);
  sender.receive(answer, us(52));
  EXPECT_EQ(sender.starved(), 0);
  EXPECT_TRUE(sender.ask_at().is_never());
}

TEST(CreditLink, WhatTheOtherEndDoesNotGrantIsNotHeldBack) {
  CreditLink receiver;
  receiver.plan(plan_of(8, 0x10), Instant{});
  CreditLink sender = end_with(8);
  sender.receive(receiver.make_frame(), us(1));
  EXPECT_EQ(sender.starved(), 0) << "priority 3 goes as it likes";
}

TEST(CreditLink, ALinkThatWasDownBeginsAnewAndWhatIsHeldStillCounts) {
  CreditLink receiver = end_with(8);
  CreditLink sender = end_with(8);
  sender.receive(receiver.make_frame(), us(1));
  sender.sent(kPriority, kLargest, us(1));
  receiver.received(kPriority, kLargest);
  receiver.holds(kPriority, 4, us(2));
  sender.restart(false, us(3));
  receiver.restart(false, us(3));
  EXPECT_EQ(sender.starved(), kBit);
  EXPECT_TRUE(sender.ask_at().is_never()) << "nobody would hear it";
  receiver.holds(kPriority, 3, us(4));
  EXPECT_FALSE(receiver.owes_frame());
  sender.restart(true, us(5));
  receiver.restart(true, us(5));
  EXPECT_EQ(sender.ask_at(), us(55));
  ASSERT_EQ(receiver.frame_at(), us(5));
  const CreditFrame frame = receiver.make_frame();
  EXPECT_EQ(frame.limit[kPriority], 5) << "room for 8, 3 of them in use";
  sender.receive(frame, us(6));
  EXPECT_EQ(sender.starved(), 0);
}

TEST(CreditLink, APlanWithoutCreditEndsIt) {
  CreditLink end = end_with(8);
  end.plan(plan_of(8, 0), us(1));
  EXPECT_EQ(end.starved(), 0);
  EXPECT_FALSE(end.owes_frame());
  EXPECT_TRUE(end.ask_at().is_never());
}

// Two ends and a FIFO between them, that may lose: never is more held than the room, and nothing stands still.
TEST(CreditLink, NeverHoldsMoreThanTheRoomAndNeverStandsStill) {
  for (uint64_t round = 0; round < 50; ++round) {
    Rng rng{tests::seed(), round};
    const auto room = static_cast<uint16_t>(4 + rng.below(60));
    CreditLink receiver = end_with(room);
    CreditLink sender = end_with(room);
    std::deque<uint32_t> frames;   // on the way; 0: a credit frame
    std::deque<CreditFrame> told;  // the sender's
    uint32_t held = 0;
    uint64_t arrived = 0;
    std::deque<uint32_t> held_frames;
    for (int64_t step = 1; step < 20'000; ++step) {
      const Instant now = us(step);
      if (sender.ask_at() <= now) sender.ask(now);
      if (sender.owes_frame()) {
        frames.push_back(0);
        told.push_back(sender.make_frame());
      } else if (sender.starved() == 0) {
        const auto bytes = static_cast<uint32_t>(1 + rng.below(kLargest));
        sender.sent(kPriority, bytes, now);
        frames.push_back(bytes);
      }
      if (!frames.empty() && rng.below(2) == 0) {
        const uint32_t bytes = frames.front();
        frames.pop_front();
        const bool lost = rng.below(50) == 0;
        if (bytes == 0) {
          if (!lost) receiver.receive(told.front(), now);
          told.pop_front();
        } else if (!lost) {
          receiver.received(kPriority, bytes);
          held += CellSize{kCell}.cells_of(bytes);
          held_frames.push_back(bytes);
          receiver.holds(kPriority, held, now);
          ++arrived;
        }
      }
      ASSERT_LE(held, room) << "step " << step << " of round " << round;
      if (!held_frames.empty() && rng.below(3) == 0) {
        held -= CellSize{kCell}.cells_of(held_frames.front());
        held_frames.pop_front();
        receiver.holds(kPriority, held, now);
      }
      if (receiver.owes_frame()) {
        const CreditFrame frame = receiver.make_frame();
        if (rng.below(50) != 0) sender.receive(frame, now);
      }
    }
    EXPECT_GT(arrived, 1'000u) << "round " << round << ", room " << room;
  }
}

}  // namespace
}  // namespace softspine::dataplane
