// SPDX-License-Identifier: Apache-2.0
// The watchdog's rule, poll by poll, at its boundaries: SONiC's pfc_detect and pfc_restore.
#include "dataplane/egress/pfc_watchdog.hpp"

#include <gtest/gtest.h>

#include <string>

namespace softspine::dataplane {
namespace {

constexpr Duration kPoll = Duration::us(100);
// Three polls of storm, five of silence.
constexpr WatchdogPlan kPlan{
    .action = WatchdogAction::kAlert, .detection = Duration::us(300), .restoration = Duration::us(500)};

// What has happened since the poll before.
struct Since {
  uint64_t waiting = 0;
  uint64_t sent = 0;
  uint64_t pause_frames = 0;
  Duration paused;
};
constexpr Since kStuck{.waiting = 1, .pause_frames = 1};
constexpr Since kMoves{.waiting = 1, .sent = 1, .pause_frames = 1};
constexpr Since kQuiet{.waiting = 0, .sent = 1};

class Polls {
 public:
  // 'S' storm, 'R' restored, '.' nothing.
  char poll(const Since& since) {
    sample_.waiting_packets = since.waiting;
    sample_.sent_packets += since.sent;
    sample_.pause_frames += since.pause_frames;
    sample_.paused += since.paused;
    switch (watchdog_.poll(sample_, kPoll, kPlan)) {
      case WatchdogEvent::kNone: return '.';
      case WatchdogEvent::kStorm: return 'S';
      case WatchdogEvent::kRestored: return 'R';
    }
    return '?';
  }
  std::string polls(const Since& since, int count) {
    std::string events;
    for (int i = 0; i < count; ++i) events += poll(since);
    return events;
  }
  const PfcWatchdog& watchdog() const { return watchdog_; }

 private:
  PfcWatchdog watchdog_;
  WatchdogSample sample_;
};

TEST(PfcWatchdog, AnIdleQueueIsStuckIfItWasPausedForMoreThanFourFifthsOfThePoll) {
  const auto idle = [](int64_t paused_us) { return Since{.paused = Duration::us(paused_us)}; };
  EXPECT_EQ(Polls{}.polls(idle(50), 20), std::string(20, '.'));
  EXPECT_EQ(Polls{}.polls(idle(80), 20), std::string(20, '.')) << "four fifths are not more than four fifths";
  EXPECT_EQ(Polls{}.polls(idle(81), 3), "..S");
}

TEST(PfcWatchdog, AQueueThatWaitsIsStuckIfPausesComeAndNothingLeaves) {
  EXPECT_EQ(Polls{}.polls(kStuck, 3), "..S");
  EXPECT_EQ(Polls{}.polls(kMoves, 20), std::string(20, '.'));
  EXPECT_EQ(Polls{}.polls({.waiting = 1}, 20), std::string(20, '.')) << "nobody paused it";
  EXPECT_EQ(Polls{}.polls({.waiting = 1, .paused = kPoll}, 20), std::string(20, '.'))
      << "the share of the time counts only where nothing waits";
}

TEST(PfcWatchdog, PollsOfAStormHaveToFollowEachOther) {
  Polls it;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(it.polls(kStuck, 2), "..");
    EXPECT_EQ(it.poll(kMoves), '.');
  }
  EXPECT_EQ(it.polls(kStuck, 3), "..S");
}

TEST(PfcWatchdog, IsRestoredAfterTheRestorationTimeWithoutAPauseFrame) {
  Polls it;
  ASSERT_EQ(it.polls(kStuck, 3), "..S");
  EXPECT_EQ(it.polls(kQuiet, 5), "....R");
  EXPECT_FALSE(it.watchdog().stormed());
}

TEST(PfcWatchdog, APauseFrameBeginsTheRestorationTimeAnew) {
  Polls it;
  ASSERT_EQ(it.polls(kStuck, 3), "..S");
  EXPECT_EQ(it.polls(kQuiet, 4), "....");
  EXPECT_EQ(it.poll(kStuck), '.');
  EXPECT_EQ(it.polls(kQuiet, 5), "....R");
}

TEST(PfcWatchdog, CountsStormsAndRestorationsEachOnce) {
  Polls it;
  for (uint64_t i = 1; i <= 3; ++i) {
    ASSERT_EQ(it.polls(kStuck, 3), "..S");
    EXPECT_EQ(it.watchdog().storms(), i);
    EXPECT_EQ(it.watchdog().restored(), i - 1);
    ASSERT_EQ(it.polls(kQuiet, 5), "....R");
    EXPECT_EQ(it.watchdog().restored(), i);
  }
}

// What was counted when a storm began is no traffic of the storm.
TEST(PfcWatchdog, TrafficOfStormsIsWhatWasCountedBetweenTheirBeginAndTheirEnd) {
  Polls it;
  ASSERT_EQ(it.polls(kStuck, 3), "..S");
  PfcWatchdog watchdog = it.watchdog();
  watchdog.began({10, 20, 30, 40});
  const WatchdogTraffic during{1, 2, 3, 4};
  EXPECT_EQ(watchdog.in_last_storm({11, 22, 33, 44}), during);
  EXPECT_EQ(watchdog.in_storms({11, 22, 33, 44}), during);
  watchdog.ended({11, 22, 33, 44});
  watchdog.abandon();
  EXPECT_EQ(watchdog.in_last_storm({100, 100, 100, 100}), during) << "what comes after is of no storm";
  EXPECT_EQ(watchdog.in_storms({100, 100, 100, 100}), during);
  EXPECT_EQ(watchdog.restored(), 1u);
}

}  // namespace
}  // namespace softspine::dataplane
