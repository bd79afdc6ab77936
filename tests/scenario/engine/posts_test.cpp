// SPDX-License-Identifier: Apache-2.0
// What is posted while a worker sleeps.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <thread>

#include "dataplane/engine/engine.hpp"
#include "tests/scenario/engine/gossip.hpp"

namespace softspine::tests {
namespace {

// A wall that is a millisecond on after each sleep, in which somebody has posted.
class PostingClock final : public Clock {
 public:
  Instant horizon() noexcept override { return now_; }
  void idle(Instant, uint32_t, const Wake&) noexcept override {
    now_ = now_ + Duration::ms(1);
    engine->post([this](Instant at) {
      EXPECT_EQ(at, now_) << "it is done when it was posted, not when the sleep began";
      if (++done == 5) engine->stop();
    });
  }
  bool is_wall() const noexcept override { return true; }
  void start(Instant) noexcept override {}
  Engine* engine = nullptr;
  int done = 0;

 private:
  Instant now_ = Instant::at_ps(1'000'000'000);  // what is due at the start is done before the first sleep
};

TEST(Engine, WhatIsPostedWhileAWorkerSleepsIsDoneByTheClock) {
  PostingClock clock;
  Gossip gossip{1, 9, 1, &clock};
  clock.engine = &gossip.engine();
  EXPECT_EQ(gossip.engine().run(Instant::never()), RunEnd::kStopped);
  EXPECT_EQ(clock.done, 5);
}

// Sleeps until somebody posts, however long that is; nobody who is awake finds a post that has been done already.
class PatientClock final : public Clock {
 public:
  Instant horizon() noexcept override { return now_; }
  void idle(Instant, uint32_t, const Wake& wake) noexcept override {
    pollfd posts{wake.posts, POLLIN, 0};
    const bool is_readable = poll(&posts, 1, 0) == 1;
    EXPECT_TRUE(!is_readable || posted > done) << "a post that is done wakes";
    EXPECT_EQ(poll(&posts, 1, 20'000), 1) << "what was posted wakes nobody";
    now_ = now_ + Duration::ms(1);
  }
  bool is_wall() const noexcept override { return true; }
  void start(Instant) noexcept override {}
  std::atomic<int> posted = 0;  // counted before it is
  std::atomic<int> done = 0;

 private:
  Instant now_ = Instant::at_ps(1'000'000'000);
};

TEST(Engine, WhatIsPostedWakesAWorkerThatSleeps) {
  constexpr int kPosts = 200;
  PatientClock clock;
  Gossip gossip{1, 9, 1, &clock};
  std::jthread poster{[&] {
    for (int i = 0; i < kPosts; ++i) {
      ++clock.posted;
      gossip.engine().post([&](Instant) {
        ++clock.done;
        clock.done.notify_one();
      });
      clock.done.wait(i);
    }
    gossip.engine().stop();
  }};
  EXPECT_EQ(gossip.engine().run(Instant::never()), RunEnd::kStopped);
  EXPECT_EQ(clock.done, kPosts);
}

}  // namespace
}  // namespace softspine::tests
