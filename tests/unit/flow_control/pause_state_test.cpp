// SPDX-License-Identifier: Apache-2.0
#include "dataplane/flow_control/pause_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "dataplane/flow_control/pause_timing.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/unit/flow_control/priority_three.hpp"

namespace softspine::dataplane {
namespace {

using tests::kQuantum;
using tests::kThree;

constexpr Duration kResponse = 394 * kQuantum;

Instant at(int64_t quanta) {
  return Instant::at(quanta * kQuantum);
}

struct Port {
  PauseState state;
  void xoff(int64_t when, uint8_t mask, uint16_t time) {
    state.receive(PfcFrame::of(mask, time), at(when), kQuantum, kResponse);
  }
};

TEST(PauseState, StopsAfterTheResponseTimeAndGoesOnWhenItsQuantaRunOut) {
  Port port;
  port.xoff(100, 0x08, 1000);
  EXPECT_EQ(port.state.next_change(), at(494));
  EXPECT_EQ(port.state.advance(at(494) - Duration::ps(1)), 0);
  EXPECT_EQ(port.state.advance(at(494)), 0x08);
  EXPECT_EQ(port.state.next_change(), at(1100));
  EXPECT_EQ(port.state.advance(at(1100) - Duration::ps(1)), 0x08);
  EXPECT_EQ(port.state.advance(at(1100)), 0);
  EXPECT_TRUE(port.state.next_change().is_never());
  EXPECT_EQ(port.state.paused_time(kThree, at(5000)), 606 * kQuantum);
  EXPECT_EQ(port.state.on_to_off(kThree), 1u);
  EXPECT_EQ(port.state.rx_frames(kThree), 1u);
}

TEST(PauseState, ASuspendedPauseIsInEffectAgainForWhatIsLeftOfItsTime) {
  Port port;
  port.xoff(0, 0x18, 2000);
  EXPECT_EQ(port.state.advance(at(500)), 0x18);
  port.state.suspend(0x08, at(600));
  EXPECT_EQ(port.state.advance(at(600)), 0x10);
  port.state.resume(0x08, at(1500));
  EXPECT_EQ(port.state.advance(at(1500)), 0x18);
  EXPECT_EQ(port.state.advance(at(2000)), 0);
  EXPECT_EQ(port.state.paused_time(kThree, at(5000)), (206 + 500) * kQuantum);
  port.state.suspend(0x08, at(5000));
  port.state.resume(0x08, at(5001));
  EXPECT_EQ(port.state.advance(at(5001)), 0) << "its time is over";
}

TEST(PauseState, ResumingWhatWasNotSuspendedChangesNothing) {
  Port port;
  port.xoff(0, 0x08, 2000);
  port.state.resume(0x08, at(100));
  EXPECT_EQ(port.state.advance(at(394) - Duration::ps(1)), 0) << "its response time is not over";
  EXPECT_EQ(port.state.advance(at(394)), 0x08);
  port.state.resume(0x08, at(1000));
  EXPECT_EQ(port.state.paused_time(kThree, at(2000)), (2000 - 394) * kQuantum);
}

TEST(PauseState, GoesOnAtOnceAtTimeZero) {
  Port port;
  port.xoff(0, 0x18, 0xffff);
  EXPECT_EQ(port.state.advance(at(1000)), 0x18);
  port.xoff(1000, 0x08, 0);
  EXPECT_EQ(port.state.advance(at(1000)), 0x10);
  EXPECT_EQ(port.state.paused_time(kThree, at(9000)), 606 * kQuantum);
  EXPECT_EQ(port.state.paused_time(Priority{4}, at(9000)), 8606 * kQuantum);
}

TEST(PauseState, TimeZeroTakesBackAStopThatIsPending) {
  Port port;
  port.xoff(0, 0x08, 0xffff);
  port.xoff(393, 0x08, 0);
  EXPECT_TRUE(port.state.next_change().is_never());
  EXPECT_EQ(port.state.advance(at(500)), 0);
  EXPECT_EQ(port.state.on_to_off(kThree), 0u);
  EXPECT_EQ(port.state.rx_frames(kThree), 2u);
}

TEST(PauseState, ARefreshMovesTheEndAndNotTheStop) {
  Port port;
  port.xoff(0, 0x08, 1000);
  port.xoff(300, 0x08, 1000);
  EXPECT_EQ(port.state.next_change(), at(394));
  port.xoff(1299, 0x08, 1000);
  EXPECT_EQ(port.state.next_change(), at(2299));
  EXPECT_EQ(port.state.advance(at(2298)), 0x08);
  EXPECT_EQ(port.state.advance(at(2299)), 0);
  EXPECT_EQ(port.state.on_to_off(kThree), 1u);
}

TEST(PauseState, ARefreshAtTheEndIsANewPauseWithAResponseOfItsOwn) {
  Port port;
  port.xoff(0, 0x08, 1000);
  port.xoff(1000, 0x08, 1000);
  EXPECT_EQ(port.state.advance(at(1000)), 0);
  EXPECT_EQ(port.state.next_change(), at(1394));
}

TEST(PauseState, AShorterTimeBringsTheEndForward) {
  Port port;
  port.xoff(0, 0x08, 0xffff);
  port.xoff(1000, 0x08, 10);
  EXPECT_EQ(port.state.next_change(), at(1010));
}

TEST(PauseState, APauseShorterThanTheResponseStopsNothing) {
  Port port;
  port.xoff(0, 0x08, 394);
  EXPECT_TRUE(port.state.next_change().is_never());
  EXPECT_EQ(port.state.advance(at(394)), 0);
  // Its timer is over, so the next one reacts anew.
  port.xoff(394, 0x08, 1000);
  EXPECT_EQ(port.state.next_change(), at(788));
  EXPECT_EQ(port.state.on_to_off(kThree), 0u);
}

TEST(PauseState, AStationThatNeverObeysOnlyCounts) {
  PauseState state;
  for (int64_t x = 0; x < 3; ++x) state.receive(PfcFrame::of(0x08, 0xffff), at(x), kQuantum, Duration::max());
  EXPECT_TRUE(state.next_change().is_never());
  EXPECT_EQ(state.advance(at(100)), 0);
  EXPECT_EQ(state.rx_frames(kThree), 3u);
}

TEST(PauseState, LookingChangesNothing) {
  Port port;
  port.xoff(0, 0x08, 1000);
  const PauseState& state = port.state;
  EXPECT_EQ(state.paused(at(393)), 0);
  EXPECT_EQ(state.paused(at(394)), 0x08);
  EXPECT_EQ(state.paused(at(1000)), 0);
  EXPECT_EQ(state.next_change(), at(394));
  EXPECT_EQ(state.paused_time(kThree, at(500)), 106 * kQuantum);
  EXPECT_EQ(state.on_to_off(kThree), 0u);
}

TEST(PauseState, EndsEverythingWhenTheLinkIsCleared) {
  Port port;
  port.xoff(0, 0x08, 0xffff);
  port.xoff(500, 0x10, 0xffff);
  port.state.clear(at(600));
  EXPECT_EQ(port.state.advance(at(600)), 0);
  EXPECT_TRUE(port.state.next_change().is_never());
  EXPECT_EQ(port.state.paused_time(kThree, at(900)), 206 * kQuantum);
  EXPECT_EQ(port.state.paused_time(Priority{4}, at(900)), Duration{});
}

// 802.3 lets a frame that has begun leave: the pause is in effect from 494 to 1100, the priority stands still from 600.
TEST(PauseState, StandsStillFromTheEndOfTheFrameThatIsLeaving) {
  Port port;
  port.state.leaves(0x08, at(90));
  port.xoff(100, 0x18, 1000);
  (void)port.state.advance(at(400));
  port.state.leaves(0x08, at(600));
  EXPECT_EQ(port.state.stopped_time(kThree, at(550)), Duration{});
  EXPECT_EQ(port.state.stopped_time(kThree, at(700)), 100 * kQuantum) << "also where nothing was applied since";
  EXPECT_EQ(port.state.advance(at(650)), 0x18);
  port.state.leaves(0x01, at(800));
  EXPECT_EQ(port.state.advance(at(1100)), 0);
  EXPECT_EQ(port.state.stopped_time(kThree, at(5000)), (1100 - 600) * kQuantum);
  EXPECT_EQ(port.state.stopped_time(Priority{4}, at(5000)), 606 * kQuantum) << "it had no frame on the wire";
  EXPECT_EQ(port.state.paused_time(kThree, at(5000)), 606 * kQuantum);
}

TEST(PauseState, NeverStandsStillWhereOneFrameLeavesAllTheTime) {
  Port port;
  port.state.leaves(0x08, at(2000));
  port.xoff(0, 0x08, 1500);
  EXPECT_EQ(port.state.stopped_time(kThree, at(1400)), Duration{});
  EXPECT_EQ(port.state.advance(at(2000)), 0);
  EXPECT_EQ(port.state.stopped_time(kThree, at(3000)), Duration{});
  EXPECT_EQ(port.state.paused_time(kThree, at(3000)), (1500 - 394) * kQuantum);
}

TEST(PauseState, DoesNotStandStillWhileItIsOverruled) {
  Port port;
  port.xoff(0, 0x18, 4000);
  port.state.overrule(0x08, at(1000));
  port.state.leaves(0x08, at(2100));
  port.state.overrule(0, at(2000));
  EXPECT_EQ(port.state.advance(at(4000)), 0);
  EXPECT_EQ(port.state.stopped_time(kThree, at(5000)), (1000 - 394 + 4000 - 2100) * kQuantum);
  EXPECT_EQ(port.state.stopped_time(Priority{4}, at(5000)), (4000 - 394) * kQuantum);
  EXPECT_EQ(port.state.paused_time(kThree, at(5000)), (4000 - 394) * kQuantum);
}

// The rule said over single quanta: every request there ever was, looked at again for every quantum.
class SlowPause {
 public:
  void receive(int64_t now, uint16_t time) { requests_.push_back({now, time}); }
  bool stops(int64_t x) const {
    std::optional<int64_t> first;  // of the requests without a break up to x
    int64_t until = 0;
    for (const Request& request : requests_) {
      if (first && request.at >= until) first.reset();
      if (request.time == 0) {
        first.reset();
        continue;
      }
      if (!first) first = request.at;
      until = request.at + request.time;
    }
    return first && *first + 394 <= x && x < until;
  }

 private:
  struct Request {
    int64_t at;
    uint16_t time;
  };
  std::vector<Request> requests_;
};

// At one quantum in 150; the rule has received it as well.
std::optional<PfcFrame> drawn_frame(Rng& rng, std::array<SlowPause, kPriorities>& slow, int64_t x) {
  if (rng.below(150) != 0) return std::nullopt;
  PfcFrame frame{.enable = static_cast<uint8_t>(rng.next())};
  for (size_t i = 0; i < kPriorities; ++i) {
    frame.quanta[i] = static_cast<uint16_t>(rng.below(3) == 0 ? 0 : rng.below(1500));
    if ((frame.enable >> i & 1) != 0) slow[i].receive(x, frame.quanta[i]);
  }
  return frame;
}

TEST(PauseState, AgreesWithARuleThatLooksAtEveryQuantum) {
  const uint64_t seed = tests::seed();
  SCOPED_TRACE(seed);
  Rng rng{seed, 0};
  for (int round = 0; round < 40; ++round) {
    PauseState state;
    std::array<SlowPause, kPriorities> slow;
    std::array<int64_t, kPriorities> paused{};
    std::array<uint64_t, kPriorities> ended{};
    uint8_t before = 0;
    for (int64_t x = 0; x < 4000; ++x) {
      (void)state.advance(at(x));
      if (const auto frame = drawn_frame(rng, slow, x)) state.receive(*frame, at(x), kQuantum, kResponse);
      uint8_t expected = 0;
      for (size_t i = 0; i < kPriorities; ++i) {
        const bool stops = slow[i].stops(x);
        expected = static_cast<uint8_t>(expected | int{stops} << i);
        paused[i] += stops;
        ended[i] += (before >> i & 1) != 0 && !stops;
      }
      ASSERT_EQ(state.advance(at(x)), expected) << x;
      ASSERT_EQ(state.paused(at(x)), expected) << x;
      before = expected;
    }
    for (uint8_t i = 0; i < kPriorities; ++i) {
      ASSERT_EQ(state.paused_time(Priority{i}, at(4000)), paused[i] * kQuantum);
      ASSERT_EQ(state.on_to_off(Priority{i}), ended[i]);
    }
  }
}

// A port that sends frames of 1 to 300 quanta of any priority that may begin one, one after the other, and that applies
// pauses only when it begins a frame; quantum by quantum, the priority of the frame on the wire does not stand still.
TEST(PauseState, StandsStillAsARuleHasItThatLooksAtEveryQuantum) {
  const uint64_t seed = tests::seed();
  SCOPED_TRACE(seed);
  Rng rng{seed, 1};
  for (int round = 0; round < 40; ++round) {
    PauseState state;
    std::array<SlowPause, kPriorities> slow;
    std::array<int64_t, kPriorities> stopped{};
    uint8_t overruled = 0;
    int64_t free_at = 0;
    size_t leaving = 0;
    for (int64_t x = 0; x < 4000; ++x) {
      if (const auto frame = drawn_frame(rng, slow, x)) state.receive(*frame, at(x), kQuantum, kResponse);
      if (rng.below(500) == 0) state.overrule(overruled = static_cast<uint8_t>(rng.next()), at(x));
      if (const size_t wanted = rng.below(kPriorities); x >= free_at && rng.below(20) != 0) {
        const uint8_t blocked = state.advance(at(x)) & static_cast<uint8_t>(~overruled);
        if ((blocked >> wanted & 1) == 0) {
          leaving = wanted;
          free_at = x + 1 + static_cast<int64_t>(rng.below(300));
          state.leaves(static_cast<uint8_t>(1U << wanted), at(free_at));
        }
      }
      for (size_t i = 0; i < kPriorities; ++i) {
        const bool leaves = x < free_at && leaving == i;
        stopped[i] += slow[i].stops(x) && (overruled >> i & 1) == 0 && !leaves ? 1 : 0;
      }
    }
    for (uint8_t i = 0; i < kPriorities; ++i)
      ASSERT_EQ(state.stopped_time(Priority{i}, at(4000)), stopped[i] * kQuantum) << int{i};
  }
}

TEST(PauseTiming, HasTheQuantaAndResponsesOfTheStandard) {
  EXPECT_EQ(pause_quantum(Rate::gbps(10)), Duration::ps(51'200));
  EXPECT_EQ(pause_quantum(Rate::gbps(100)), Duration::ps(5'120));
  EXPECT_EQ(pause_quantum(Rate::gbps(400)), Duration::ps(1'280));
  EXPECT_EQ(PauseTiming::of(Rate::gbps(100)).response, Duration::ps(2'017'280));
  const std::vector<std::pair<uint64_t, uint32_t>> table{{1, 2},     {2, 67},    {10, 67},   {25, 80},
                                                         {40, 118},  {50, 147},  {56, 394},  {100, 394},
                                                         {101, 453}, {200, 453}, {400, 905}, {800, 905}};
  for (const auto& [gbps, quanta] : table) {
    const Rate rate = Rate::gbps(gbps);
    EXPECT_EQ(pause_response_quanta(rate), quanta) << gbps;
    EXPECT_EQ(pause_response_quanta(ClockOffset::ppb(100'000).of(rate)), quanta) << gbps << ", by a fast clock";
    EXPECT_EQ(pause_response_quanta(ClockOffset::ppb(-100'000).of(rate)), quanta) << gbps << ", by a slow clock";
  }
  EXPECT_EQ(PauseTiming::of(Rate::gbps(400)).response, Duration::ps(905 * 1'280));
}

// Spans one behind the other, which add up.
struct Spans : PauseObserver {
  void stood_still(Priority priority, PauseSpan span) noexcept override {
    if (priority != kThree) return;
    in_order &= last <= span.from && !span.is_empty();
    last = span.to;
    sum += span.to - span.from;
  }
  void asked(Priority, PauseSpan) noexcept override {}
  Duration sum;
  Instant last;
  bool in_order = true;
};

void do_something(PauseState& state, Instant now, Rng& rng) {
  const auto some = static_cast<uint8_t>(rng.next());
  switch (rng.next() % 7) {
    case 0: return state.clear(now);
    case 1: return state.suspend(some, now);
    case 2: return state.resume(some, now);
    case 3: return state.overrule(some & static_cast<uint8_t>(rng.next()), now);
    case 4: return state.advance(now) == 0 ? state.leaves(some, now + 30 * kQuantum) : void();
    case 5: return state.receive(PfcFrame::of(some, 0), now, kQuantum, kResponse);
    default: break;
  }
  state.receive(PfcFrame::of(some, static_cast<uint16_t>(rng.next() % 3000)), now, kQuantum, kResponse);
}

TEST(PauseState, TellsAnObserverOfAllTheTimeThatItStoodStill) {
  Duration all;
  for (uint64_t seed = tests::seed(), end = seed + 50; seed < end; ++seed) {
    Rng rng{seed, 0};
    PauseState state;
    Spans spans;
    state.observe(&spans);
    Instant now;
    for (int i = 0; i < 200; ++i) {
      now = now + static_cast<int64_t>(rng.next() % 1500) * kQuantum;
      do_something(state, now, rng);
      const PauseSpan open = state.standing_still(kThree);
      const PauseSpan so_far{open.from, std::min(open.to, now)};
      const Duration still = so_far.is_empty() ? Duration{} : so_far.to - so_far.from;
      ASSERT_EQ(spans.sum + still, state.stopped_time(kThree, now)) << "seed " << seed;
    }
    ASSERT_TRUE(spans.in_order) << "seed " << seed;
    all += spans.sum;
  }
  EXPECT_GT(all, Duration::ms(1));
}

}  // namespace
}  // namespace softspine::dataplane
