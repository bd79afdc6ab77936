// SPDX-License-Identifier: Apache-2.0
// Schedule against a plain table of instants, over random windows: nodes near, far, at one instant, never.
#include "dataplane/link/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

constexpr uint32_t kNodes = 40;

class ScheduleAndModel {
 public:
  // `least`: how far ahead, in powers of two of picoseconds, everything is.
  ScheduleAndModel(Rng rng, uint64_t least) : rng_(rng), least_(least) {}

  // Some are woken, then one window: who is due runs, and most want to run again.
  void step() {
    for (uint64_t i = rng_.below(6); i != 0; --i) wake(rng_.below(kNodes), now_ + some_time());
    ASSERT_EQ(schedule_.next(), first());
    if (first().is_never()) return;
    const Instant until = std::max(first(), now_) + Duration::ps(1 + static_cast<int64_t>(rng_.below(40'000)));
    std::set<ScheduleSlot*> due;
    for (ScheduleSlot& slot : slots_) {
      if (model_[number_of(slot)] < until) due.insert(&slot);
    }
    const auto taken = schedule_.take(until);
    ASSERT_EQ(std::set<ScheduleSlot*>(taken.begin(), taken.end()), due);
    ASSERT_EQ(taken.size(), due.size());
    for (ScheduleSlot* slot : taken) {
      const Instant next = rng_.below(4) == 0 ? Instant::never() : until + some_time();
      model_[number_of(*slot)] = next;
      schedule_.put(*slot, next);
      // What runs sends to others, and to who has not run yet in this window: never for before its end.
      wake(rng_.below(kNodes), until + some_time(), &taken);
    }
    now_ = until;
  }

 private:
  // To beyond the wheel.
  Duration some_time() {
    const uint64_t bits = least_ + rng_.below(36 - least_);
    return Duration::ps(static_cast<int64_t>(rng_.below(uint64_t{1} << bits)));
  }
  void wake(uint64_t number, Instant at, const std::vector<ScheduleSlot*>* running = nullptr) {
    ScheduleSlot& slot = slots_[number];
    schedule_.wake(slot, at);
    // Who is about to run says itself when it wants to run again.
    const bool is_running = running != nullptr && slot.place == ScheduleSlot::Place::kRunning;
    if (!is_running) model_[number] = std::min(model_[number], at);
  }
  size_t number_of(const ScheduleSlot& slot) const { return static_cast<size_t>(&slot - slots_.data()); }
  Instant first() const { return *std::min_element(model_.begin(), model_.end()); }

  Rng rng_;
  uint64_t least_;
  Instant now_;
  Schedule schedule_;
  std::vector<ScheduleSlot> slots_{kNodes};
  std::vector<Instant> model_ = std::vector<Instant>(kNodes, Instant::never());
};

TEST(ScheduleModel, TakesWhoIsDueAndNobodyElse) {
  for (uint64_t round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    // From the same instant on; and nearly all of them beyond the wheel.
    ScheduleAndModel both{Rng{tests::seed(), round}, round % 2 == 0 ? uint64_t{0} : uint64_t{28}};
    for (int i = 0; i < 20'000; ++i) {
      both.step();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// An hour of silence, then a moment after it: the wheel reaches from there.
TEST(ScheduleModel, FindsItsPlaceAgainAfterALongSilence) {
  Schedule schedule;
  ScheduleSlot early;
  ScheduleSlot late;
  const Instant hour = Instant::at(Duration::s(3600));
  schedule.wake(early, Instant::at_ps(5));
  schedule.wake(late, hour);
  EXPECT_EQ(schedule.take(Instant::at_ps(6)).size(), 1u);
  schedule.put(early, Instant::never());
  EXPECT_EQ(schedule.next(), hour);
  schedule.wake(early, hour + Duration::ns(1));
  EXPECT_EQ(schedule.next(), hour);
  EXPECT_EQ(schedule.take(hour + Duration::ns(2)).size(), 2u);
  EXPECT_TRUE(schedule.next().is_never());
}

// Whose node has run in this window already, or may have: its order would be wrong.
TEST(ScheduleDeathTest, NobodyHearsOfWhatLiesInsideTheWindow) {
  Schedule schedule;
  ScheduleSlot slot;
  schedule.wake(slot, Instant::at_ps(100));
  static_cast<void>(schedule.take(Instant::at_ps(50)));
  schedule.wake(slot, Instant::at_ps(50));
  EXPECT_EQ(schedule.next(), Instant::at_ps(50));
  EXPECT_DEATH(schedule.wake(slot, Instant::at_ps(49)), "at >= until_");
}

}  // namespace
}  // namespace softspine::dataplane
