// SPDX-License-Identifier: Apache-2.0
#include "dataplane/egress/event_recorder.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace softspine::dataplane {
namespace {

constexpr Instant us(int64_t us) {
  return Instant::at(Duration::us(us));
}

struct Recorder {
  explicit Recorder(size_t rest_at = 64) : buffer(rest_at, wants_rest) {}
  std::vector<Event> taken() {
    std::vector<Event> out;
    buffer.take([&](const Event& event) { out.push_back(event); });
    return out;
  }
  std::atomic<bool> wants_rest{false};
  EventBuffer buffer;
  EventRecorder recorder{buffer, 7, 4};
};

TEST(EventRecorder, MakesOneBurstOfDropsThatAreCloseTogether) {
  Recorder it;
  it.recorder.dropped(2, DropReason::kQueueFull, us(1));
  it.recorder.dropped(2, DropReason::kQueueFull, us(10));
  it.recorder.dropped(2, DropReason::kQueueFull, us(19));
  it.recorder.dropped(2, DropReason::kNoRoute, us(19));
  it.recorder.end_bursts(us(29));  // another drop may still come at 28.9…
  EXPECT_TRUE(it.taken().empty());
  it.recorder.dropped(2, DropReason::kQueueFull, us(29));  // a gap of 10 us: another burst
  it.recorder.end_bursts(us(30));
  const auto events = it.taken();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].at, us(29));
  EXPECT_EQ(events[0].first, us(1));
  EXPECT_EQ(events[0].last, us(19));
  EXPECT_EQ(events[0].count, 3u);
  EXPECT_EQ(events[0].node, 7u);
  EXPECT_EQ(events[0].port, 2);
  EXPECT_EQ(events[0].reason, DropReason::kQueueFull);
  EXPECT_EQ(events[1].reason, DropReason::kNoRoute);
  it.recorder.end_bursts(Instant::never());
  ASSERT_EQ(it.taken().size(), 1u);
}

// However often the buffers are emptied.
TEST(EventRecorder, RecordsTheSameBurstsWheneverItIsAsked) {
  std::vector<std::vector<Event>> results;
  for (const int64_t every : {1, 3, 1000}) {
    Recorder it;
    std::vector<Event> all;
    for (int64_t t = 1; t < 200; ++t) {
      if (t % 7 == 0 || t % 50 < 20) it.recorder.dropped(1, DropReason::kQueueFull, us(t));
      if (t % every != 0) continue;
      it.recorder.end_bursts(us(t));
      for (const Event& event : it.taken()) all.push_back(event);
    }
    it.recorder.end_bursts(Instant::never());
    for (const Event& event : it.taken()) all.push_back(event);
    results.push_back(all);
  }
  ASSERT_FALSE(results[0].empty());
  for (const auto& each : results) {
    ASSERT_EQ(each.size(), results[0].size());
    for (size_t i = 0; i < each.size(); ++i) {
      EXPECT_EQ(each[i].at, results[0][i].at);
      EXPECT_EQ(each[i].count, results[0][i].count);
    }
  }
}

Event event_at(Instant at) {
  Event out;
  out.at = at;
  return out;
}

TEST(EventBuffer, AsksToBeEmptiedAtItsNumberAndHoldsWhatComesUntilThen) {
  Recorder it{2};
  it.recorder.record(event_at(us(1)));
  EXPECT_FALSE(it.wants_rest);
  it.recorder.record(event_at(us(2)));
  EXPECT_TRUE(it.wants_rest);
  for (int i = 3; i <= 1'000; ++i) it.recorder.record(event_at(us(i)));
  const std::vector<Event> taken = it.taken();
  ASSERT_EQ(taken.size(), 1'000u);
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(taken[static_cast<size_t>(i)].at, us(i + 1));
  EXPECT_TRUE(it.taken().empty());
}

}  // namespace
}  // namespace softspine::dataplane
