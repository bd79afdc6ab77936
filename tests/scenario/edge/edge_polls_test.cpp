// SPDX-License-Identifier: Apache-2.0
// When a worker polls its edges, and what ends its sleep. On a clock moved by hand; descriptors are eventfds of the
// test.
#include "dataplane/engine/edge_polls.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "dataplane/engine/engine.hpp"
#include "dataplane/engine/wall_clock.hpp"

namespace softspine::dataplane {
namespace {

class PolledEdge final : public Node {
 public:
  explicit PolledEdge(bool has_descriptor) : Node("edge", 1), news_(has_descriptor ? eventfd(0, EFD_NONBLOCK) : -1) {}
  Instant run(Instant) noexcept override { return Instant::never(); }
  bool wants_poll() const override { return true; }
  int poll_descriptor() const override { return news_.get(); }
  bool poll(Instant) noexcept override {
    ++polls;
    if (answers.empty()) return false;
    const bool answer = answers.front();
    answers.pop_front();
    return answer;
  }
  void bring() const { ASSERT_EQ(eventfd_write(news_.get(), 1), 0); }

  uint32_t polls = 0;
  std::deque<bool> answers;  // of the next polls; false behind them

 private:
  OwnedFd news_;
};

TEST(EdgePolls, AskAnEdgeThatHasNewsUntilItHasNoMore) {
  PolledEdge edge{true};
  EdgePolls polls;
  polls.add(edge);
  EXPECT_TRUE(polls.tell_all());
  EXPECT_FALSE(polls.poll({}));
  EXPECT_EQ(edge.polls, 1u) << "what came before it was watched";
  EXPECT_FALSE(polls.poll({}));
  EXPECT_EQ(edge.polls, 1u);
  edge.bring();
  edge.answers = {true, true, false};
  EXPECT_TRUE(polls.poll({}));
  EXPECT_TRUE(polls.poll({}));
  EXPECT_FALSE(polls.poll({}));
  EXPECT_FALSE(polls.poll({}));
  EXPECT_EQ(edge.polls, 4u);
  edge.bring();
  polls.poll({});
  EXPECT_EQ(edge.polls, 5u) << "news again, though nobody has read the first";
}

TEST(EdgePolls, AskAnEdgeWithoutADescriptorAlways) {
  PolledEdge told{true};
  PolledEdge silent{false};
  EdgePolls polls;
  polls.add(told);
  polls.add(silent);
  EXPECT_FALSE(polls.tell_all());
  for (int i = 0; i < 3; ++i) polls.poll({});
  EXPECT_EQ(told.polls, 1u);
  EXPECT_EQ(silent.polls, 3u);
}

// A wall clock on which every look is 100 ns later. It notes what would have ended its sleeps.
class SleeplessClock final : public Clock {
 public:
  Instant horizon() noexcept override { return Instant::at(Duration::ns(100 * ++looks_)); }
  void idle(Instant, uint32_t, const Wake& wake) noexcept override {
    const std::lock_guard guard{lock_};
    wakes.push_back(wake);
  }
  bool is_wall() const noexcept override { return true; }
  void start(Instant) noexcept override {}

  std::vector<Wake> wakes;

 private:
  std::atomic<int64_t> looks_ = 0;
  std::mutex lock_;
};

bool has_news(const Wake& wake) {
  pollfd it{.fd = wake.descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&it, 1, 0) == 1;
}

TEST(EdgePolls, NewsOfAnyWorkersEdgeWakesAllWorkers) {
  for (const uint32_t workers : {1u, 2u, 3u}) {
    SleeplessClock clock;
    Engine engine{clock, {.workers = workers}};
    std::vector<PolledEdge*> edges;
    for (uint32_t i = 0; i < workers; ++i) {
      auto edge = std::make_unique<PolledEdge>(true);
      edges.push_back(edge.get());
      engine.add(std::move(edge), i);
    }
    Instant end;
    const auto run_on = [&] {
      clock.wakes.clear();
      end = end + Duration::us(200);
      engine.run(end);
      ASSERT_FALSE(clock.wakes.empty());
    };
    run_on();
    for (const PolledEdge* const edge : edges) {
      EXPECT_FALSE(has_news(clock.wakes.back())) << workers;
      edge->bring();
      for (const Wake& wake : clock.wakes) {
        EXPECT_TRUE(wake.tells_all);
        EXPECT_TRUE(has_news(wake)) << workers;
      }
      const uint32_t polls = edge->polls;
      run_on();
      EXPECT_EQ(edge->polls, polls + 1) << workers;
    }
  }
}

// Each of these would sleep for an hour.
TEST(EdgePolls, NewsEndTheSleepOfAWallClockAtOnce) {
  constexpr uint32_t kAfterSpinning = 1'000;
  WallClock clock{{.max_wait = Duration::s(3'600)}};
  PolledEdge edge{true};
  EdgePolls polls;
  polls.add(edge);
  edge.bring();
  clock.idle(Instant::never(), kAfterSpinning, {.descriptor = polls.descriptor(), .tells_all = true});
  Readiness all;
  ASSERT_TRUE(all.watch(polls.descriptor(), nullptr, Readiness::Mode::kWhileReady));
  clock.idle(Instant::never(), kAfterSpinning, {.descriptor = all.descriptor(), .tells_all = true});
  clock.idle(Instant{}, kAfterSpinning, {.descriptor = -1, .tells_all = true});  // an event that is due
  clock.idle(Instant::never(), kAfterSpinning, {.descriptor = -1, .tells_all = false});
}

// A wall clock whose sleeps are counted; undisturbed, each would last for an hour.
class CountingClock final : public Clock {
 public:
  Instant horizon() noexcept override { return clock_.horizon(); }
  void idle(Instant next, uint32_t round, const Wake& wake) noexcept override {
    clock_.idle(next, round, wake);
    idles.fetch_add(1, std::memory_order_relaxed);
  }
  bool is_wall() const noexcept override { return true; }
  void start(Instant origin) noexcept override { clock_.start(origin); }

  std::atomic<uint64_t> idles = 0;

 private:
  WallClock clock_{{.max_wait = Duration::s(3'600)}};
};

TEST(EdgePolls, WhatIsPostedEndsTheSleepOfAllWorkersAtOnce) {
  constexpr int kPosts = 400;
  for (const uint32_t workers : {1u, 2u, 3u}) {
    CountingClock clock;
    Engine engine{clock, {.workers = workers}};
    for (uint32_t i = 0; i < workers; ++i) engine.add(std::make_unique<PolledEdge>(true), i);
    std::jthread fabric{[&] { EXPECT_EQ(engine.run(Instant::never()), RunEnd::kStopped); }};
    std::atomic<int> done = 0;
    for (int i = 0; i < kPosts; ++i) {
      for (int spins = i * 37 % 500; spins > 0; --spins) asm volatile("pause");
      engine.post([&done](Instant) { ++done; });
      while (done <= i) std::this_thread::yield();
    }
    engine.stop();
    fabric.join();
    EXPECT_EQ(done, kPosts);
    // 200 rounds spin before each sleep. A descriptor that stays readable would make many more.
    EXPECT_LT(clock.idles, uint64_t{kPosts + 1} * 250 * workers) << workers;
  }
}

}  // namespace
}  // namespace softspine::dataplane
