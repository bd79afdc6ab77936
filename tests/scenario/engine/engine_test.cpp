// SPDX-License-Identifier: Apache-2.0
// The engine's promises: the same for any number of workers, exact control, nothing lost uncounted.
#include "dataplane/engine/engine.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <future>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/scenario/engine/gossip.hpp"

namespace softspine::tests {
namespace {

constexpr Instant ns(int64_t n) {
  return Instant::at(Duration::ns(n));
}

TEST(Engine, IsTheSameForAnyNumberOfWorkers) {
  std::vector<std::vector<Chatter::Heard>> alone;
  uint64_t windows = 0;
  for (const uint32_t workers : {1u, 2u, 3u, 4u}) {
    Gossip gossip{workers};
    gossip.begin();
    EXPECT_EQ(gossip.engine().run(Instant::never()), RunEnd::kIdle);
    if (workers == 1) {
      alone = gossip.heard();
      windows = gossip.engine().stats().windows;
      EXPECT_GT(gossip.heard_count(), 200u);
      continue;
    }
    EXPECT_EQ(gossip.heard(), alone) << workers << " workers";
    EXPECT_EQ(gossip.engine().stats().windows, windows) << "windows do not depend on them either";
  }
}

// Pods of two racks of three nodes: windows in windows in windows.
TEST(Engine, IsTheSameHoweverWindowsNest) {
  constexpr uint32_t kNodes = 24;
  Gossip flat{1, kNodes, 1, nullptr, Places::kRacksInOneWindow};
  flat.begin();
  EXPECT_EQ(flat.engine().run(Instant::never()), RunEnd::kIdle);
  EXPECT_GT(flat.heard_count(), 600u);
  for (const uint32_t workers : {1u, 2u, 3u}) {
    Gossip gossip{workers, kNodes, 1, nullptr, Places::kRacks};
    gossip.begin();
    EXPECT_EQ(gossip.engine().run(Instant::never()), RunEnd::kIdle);
    EXPECT_EQ(gossip.heard(), flat.heard()) << workers << " workers";
    EXPECT_LT(gossip.engine().stats().windows * 10, flat.engine().stats().windows);
    Gossip steps{workers, kNodes, 1, nullptr, Places::kRacks};
    steps.begin();
    for (int64_t at = 0; at < 200'000; at += 331) steps.engine().run(ns(at));
    steps.engine().run(Instant::never());
    EXPECT_EQ(steps.heard(), flat.heard()) << "in steps, " << workers << " workers";
  }
}

// An action wakes a node of a rack that had nothing to do: the groups around it have to hear of it.
TEST(Engine, AnActionWakesANodeInsideOfGroups) {
  Gossip gossip{1, 24, 1, nullptr, Places::kRacks};
  gossip.engine().at(ns(50'000), [&](Instant now) {
    gossip.node(13).say_at(now + Duration::ns(20), 0, 400, 0);
    gossip.engine().wake(NodeId{13}, now + Duration::ns(20));
    EXPECT_EQ(gossip.engine().next_event(), now + Duration::ns(20));
  });
  EXPECT_EQ(gossip.engine().run(Instant::never()), RunEnd::kIdle);
  EXPECT_EQ(gossip.node(14).heard().size(), 1u);
}

TEST(Engine, AnotherSeedIsAnotherStory) {
  Gossip one{1, 9, 1};
  one.begin();
  one.engine().run(Instant::never());
  Gossip two{2, 9, 2};
  two.begin();
  two.engine().run(Instant::never());
  EXPECT_NE(one.heard(), two.heard());
}

TEST(Engine, StepsOfAnyLengthTellTheSameStory) {
  Gossip whole{1};
  whole.begin();
  whole.engine().run(Instant::never());
  Gossip steps{2};
  steps.begin();
  for (int64_t at = 0; at < 20'000; at += 13) EXPECT_NE(steps.engine().run(ns(at)), RunEnd::kStopped);
  EXPECT_EQ(steps.engine().run(Instant::never()), RunEnd::kIdle);
  EXPECT_EQ(steps.heard(), whole.heard());
}

TEST(Engine, ArrivalsComeInTheOrderOfTimeAndThenOfPorts) {
  Gossip gossip{3};
  gossip.begin();
  gossip.engine().run(Instant::never());
  for (uint32_t i = 0; i < 9; ++i) {
    const auto& heard = gossip.node(i).heard();
    for (size_t k = 1; k < heard.size(); ++k) {
      ASSERT_LE(std::pair(heard[k - 1].at, heard[k - 1].port), std::pair(heard[k].at, heard[k].port));
    }
  }
}

TEST(Engine, AtOneInstantTheLowerPortIsHeardFirst) {
  Gossip gossip{2};
  // Node 2 hears node 1 at port 1 and node 0 at port 3: sent so that both arrive at one instant.
  const Duration near = Rate::gbps(100).time_of_frame(64) + Duration::ns(137);
  const Duration far = Rate::gbps(25).time_of_frame(64) + Duration::ns(200);
  const Instant meeting = ns(10'000);
  gossip.node(0).say_at(meeting - far, 2, 400, 0);
  gossip.node(1).say_at(meeting - near, 0, 800, 0);
  gossip.engine().run(Instant::never());
  EXPECT_EQ(gossip.node(2).heard(), (std::vector<Chatter::Heard>{{meeting, 1, 800}, {meeting, 3, 400}}));
}

TEST(Engine, AnActionSeesAllBeforeItsInstantAndNothingAtIt) {
  for (const uint32_t workers : {1u, 3u}) {
    Gossip reference{1};
    reference.begin();
    reference.engine().run(Instant::never());
    const Instant when = reference.node(4).heard().at(10).at;
    Gossip gossip{workers};
    gossip.begin();
    uint64_t seen = 0;
    Instant at;
    gossip.engine().at(when, [&](Instant now) {
      seen = gossip.heard_count();
      at = now;
      EXPECT_EQ(gossip.engine().now(), when);
    });
    gossip.engine().run(Instant::never());
    uint64_t before = 0;
    for (uint32_t i = 0; i < 9; ++i) {
      for (const auto& heard : reference.node(i).heard()) before += heard.at < when ? 1 : 0;
    }
    EXPECT_EQ(seen, before);
    EXPECT_EQ(at, when);
    EXPECT_EQ(gossip.heard(), reference.heard()) << "looking changes nothing";
  }
}

TEST(Engine, ActionsRunInTheOrderOfTimeThenOfTheirCoining) {
  Gossip gossip{2};
  gossip.begin();
  std::vector<std::pair<int, Instant>> ran;
  const auto note = [&ran](int number) { return [&ran, number](Instant now) { ran.emplace_back(number, now); }; };
  Engine& engine = gossip.engine();
  engine.at(ns(500), note(3));
  engine.at(ns(300), note(1));
  engine.at(ns(500), note(4));
  engine.at(ns(300), [&](Instant now) {
    ran.emplace_back(2, now);
    engine.at(ns(600), note(6));
    engine.at(now, note(10));      // now: before anything else happens
    engine.at(ns(100), note(11));  // the past is now
  });
  engine.at(ns(500), note(5));
  engine.at(ns(900'000'000), note(7));  // long after the last word
  EXPECT_EQ(engine.run(Instant::never()), RunEnd::kIdle);
  EXPECT_EQ(ran, (std::vector<std::pair<int, Instant>>{{1, ns(300)},
                                                       {2, ns(300)},
                                                       {10, ns(300)},
                                                       {11, ns(300)},
                                                       {3, ns(500)},
                                                       {4, ns(500)},
                                                       {5, ns(500)},
                                                       {6, ns(600)},
                                                       {7, ns(900'000'000)}}));
}

TEST(Engine, AnActionAtTheEndWaitsForTheNextRun) {
  Gossip gossip{2};
  gossip.begin();
  int ran = 0;
  gossip.engine().at(ns(1000), [&ran](Instant) { ++ran; });
  EXPECT_EQ(gossip.engine().run(ns(1000)), RunEnd::kDone);
  EXPECT_EQ(gossip.engine().now(), ns(1000));
  EXPECT_EQ(ran, 0);
  gossip.engine().run(ns(1001));
  EXPECT_EQ(ran, 1);
}

TEST(Engine, TellsWhetherSomethingIsLeft) {
  Gossip gossip{2};
  gossip.begin();
  EXPECT_EQ(gossip.engine().run(ns(50)), RunEnd::kDone);
  EXPECT_EQ(gossip.engine().run(Instant::at(Duration::s(1))), RunEnd::kIdle);
  EXPECT_EQ(gossip.engine().now(), Instant::at(Duration::s(1)));
  EXPECT_EQ(gossip.engine().progress(), Instant::at(Duration::s(1)));
  gossip.begin(3, Instant::at(Duration::s(2)));
  EXPECT_EQ(gossip.engine().run(Instant::at(Duration::s(2))), RunEnd::kDone);
  EXPECT_EQ(gossip.engine().run(Instant::at(Duration::s(3))), RunEnd::kIdle);
}

TEST(Engine, WhatIsPostedRunsBetweenWindows) {
  Gossip gossip{3};
  gossip.begin();
  Engine& engine = gossip.engine();
  int before_run = 0;
  engine.post([&before_run](Instant) { ++before_run; });
  engine.run(ns(1));
  EXPECT_EQ(before_run, 1);
  // From another thread while windows run: an endless row of actions keeps the engine going until it came.
  bool posted = false;
  std::latch running{1};
  Engine::Action again = [&](Instant now) {
    if (!running.try_wait()) running.count_down();
    if (!posted) engine.at(now + Duration::ns(10), again);
  };
  engine.at(ns(10), again);
  std::jthread other{[&] {
    running.wait();
    engine.post([&](Instant now) {
      posted = true;
      EXPECT_EQ(now, engine.now());
    });
  }};
  EXPECT_EQ(engine.run(Instant::never()), RunEnd::kIdle);
  EXPECT_TRUE(posted);
}

TEST(Engine, StopsWhenAskedFromAnotherThread) {
  Gossip gossip{3};
  Engine& engine = gossip.engine();
  std::latch running{1};
  Engine::Action again = [&](Instant now) {
    if (!running.try_wait()) running.count_down();
    engine.at(now + Duration::ns(10), again);
  };
  engine.at(ns(10), again);
  std::jthread other{[&] {
    running.wait();
    engine.stop();
  }};
  EXPECT_EQ(engine.run(Instant::never()), RunEnd::kStopped);
  EXPECT_EQ(engine.run(Instant::never()), RunEnd::kStopped) << "a stop holds";
}

TEST(Engine, ALinkThatGoesDownLosesWhatItCarriesAndCountsIt) {
  for (const uint32_t workers : {1u, 2u, 3u}) {
    Gossip gossip{workers};
    Engine& engine = gossip.engine();
    // Three frames: one has arrived, one is on the way, one is sent when the link is down; the fourth when it is up.
    const Duration under_way = Rate::gbps(100).time_of_frame(64) + Duration::ns(100);
    for (const int64_t at : {0, 200, 400, 1000}) gossip.node(0).say_at(ns(at), 0, 400 * (1 + at / 200), 0);
    const Instant down = ns(200) + (under_way - Duration::ps(1));
    engine.at(down, [&](Instant now) { engine.set_link({NodeId{1}, PortNo{1}}, false, now); });
    engine.at(ns(600), [&](Instant now) {
      engine.set_link({NodeId{0}, PortNo{0}}, true, now);
      engine.set_link({NodeId{0}, PortNo{0}}, true, now);  // again: nothing
    });
    engine.run(Instant::never());
    EXPECT_EQ(gossip.node(1).heard(),
              (std::vector<Chatter::Heard>{{ns(0) + under_way, 1, 400}, {ns(1000) + under_way, 1, 400 * 6}}));
    EXPECT_EQ(engine.lost_on_links(), 1u);
    EXPECT_EQ(gossip.node(0).transmitter(PortNo{0}).counters().lost_packets, 1u);
    const std::vector<std::pair<bool, Instant>> changes{{false, down}, {true, ns(600)}};
    EXPECT_EQ(gossip.node(0).changes(), changes);
    EXPECT_EQ(gossip.node(1).changes(), changes);
    EXPECT_TRUE(gossip.node(2).changes().empty());
  }
}

TEST(Engine, AFlappingLinkIsTheSameForAnyNumberOfWorkers) {
  std::vector<std::vector<Chatter::Heard>> alone;
  uint64_t lost = 0;
  for (const uint32_t workers : {1u, 2u, 3u}) {
    Gossip gossip{workers};
    gossip.begin(16);
    Engine& engine = gossip.engine();
    for (int64_t i = 0; i < 20; ++i) {
      engine.at(ns(100 + i * 111), [&engine, i](Instant now) {
        engine.set_link({NodeId{static_cast<uint32_t>(i / 2 % 9)}, PortNo{static_cast<uint16_t>(i % 4 / 2 * 2)}},
                        i % 2 == 1, now);
      });
    }
    engine.run(Instant::never());
    if (workers == 1) {
      alone = gossip.heard();
      lost = engine.lost_on_links();
      EXPECT_GT(lost, 0u);
    }
    EXPECT_EQ(gossip.heard(), alone);
    EXPECT_EQ(engine.lost_on_links(), lost);
  }
}

// Whoever owns the peer: a frame sent by an action is on its link for the next action, and is lost when that takes the
// link down.
TEST(Engine, WhatAnActionSendsIsOnItsLinkAtOnce) {
  for (const uint32_t workers : {1u, 2u, 3u}) {
    Gossip gossip{workers};
    Engine& engine = gossip.engine();
    const PortRef end{NodeId{0}, PortNo{0}};
    const auto send = [&] {
      Packet packet = packet_pool().make(64);
      std::memset(packet.data(), 0, 64);
      return engine.node(end.node).transmitter(end.port).send(std::move(packet), engine.now());
    };
    Instant arrives;
    engine.at(ns(100), [&](Instant) { arrives = send() + Duration::ns(100); });
    engine.at(ns(100), [&](Instant) { EXPECT_EQ(engine.next_event(), arrives) << workers << " workers"; });
    engine.at(ns(500), [&](Instant now) {
      send();
      engine.set_link(end, false, now);
      engine.set_link(end, true, now);
    });
    engine.run(Instant::never());
    EXPECT_EQ(gossip.node(1).heard(), (std::vector<Chatter::Heard>{{arrives, 1, 0}})) << workers << " workers";
    EXPECT_EQ(engine.lost_on_links(), 1u) << workers << " workers";
  }
}

// Stopped in the middle: what is on links, between workers too, comes back to the pool (checked by Gossip).
TEST(Engine, DrainFindsEveryPacketUnderWay) {
  for (const uint32_t workers : {1u, 3u}) {
    Gossip gossip{workers};
    gossip.begin();
    gossip.engine().run(ns(150));
    EXPECT_GT(packet_pool().in_use(), 0u);
  }
}

TEST(Engine, IdleNodesCostNothing) {
  const auto cost = [](uint32_t nodes) {
    Gossip gossip{1, nodes};
    gossip.engine().run(ns(0) + Duration::ps(1));
    const uint64_t started = gossip.engine().stats().node_runs;
    EXPECT_EQ(started, nodes) << "each once, to say what it wants";
    for (int i = 0; i < 100; ++i) gossip.node(0).say_at(ns(10 + 500 * i), 0, 400, 0);
    gossip.engine().wake(NodeId{0}, ns(10));
    gossip.engine().run(Instant::never());
    return std::pair{gossip.engine().stats().node_runs - started, gossip.engine().stats().windows};
  };
  const auto few = cost(5);
  EXPECT_EQ(cost(300), few);
  EXPECT_LE(few.first, 200u) << "a hundred sendings, a hundred hearings";
}

// On a clock moved by hand: nothing happens before its time, and what happens is what the virtual clock gives.
TEST(Engine, TheWallClockHoldsBackButChangesNothing) {
  Gossip reference{1};
  reference.begin();
  reference.engine().run(Instant::never());
  for (const uint32_t workers : {1u, 2u}) {
    ManualClock clock;
    Gossip gossip{workers, 9, 1, &clock};
    gossip.begin();
    for (int64_t at = 0; at < 20'000; at += 97) {
      clock.set(ns(at));
      EXPECT_EQ(gossip.engine().run(ns(at)), RunEnd::kDone);
      for (uint32_t i = 0; i < 9; ++i) {
        if (!gossip.node(i).heard().empty()) {
          ASSERT_LT(gossip.node(i).heard().back().at, ns(at));
        }
      }
    }
    EXPECT_EQ(gossip.heard(), reference.heard());
    EXPECT_GT(gossip.engine().stats().lateness.count(), 0u);
  }
}

// A wall that is one microsecond on each time nobody has anything to do.
class IdleClock final : public Clock {
 public:
  Instant horizon() noexcept override { return now_; }
  void idle(Instant, uint32_t, const Wake&) noexcept override {
    now_ = now_ + Duration::us(1);
    if (engine->progress() >= Instant::at(Duration::ms(1)) || now_ >= Instant::at(Duration::ms(5))) engine->stop();
  }
  bool is_wall() const noexcept override { return true; }
  void start(Instant) noexcept override {}
  Engine* engine = nullptr;

 private:
  Instant now_;
};

// While it lives, this process opens nothing.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  ~NoDescriptors() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_{};
};

TEST(Engine, IsNotMadeWithoutADescriptor) {
  std::string error;
  VirtualClock clock;
  try {
    const NoDescriptors none;
    Engine engine{clock, {}};
  } catch (const std::runtime_error& refused) {
    error = refused.what();
  }
  EXPECT_EQ(error, "the engine gets no eventfd: Too many open files");
}

TEST(Engine, WhatIsPostedToALateFabricIsDoneBeforeTheEventsThatAreDue) {
  ManualClock clock;
  Gossip gossip{1, 9, 1, &clock};
  gossip.begin();
  Instant first = Instant::never();
  Instant acted;
  clock.set(ns(100'000));
  gossip.engine().post([&](Instant at) {
    acted = at;
    for (uint32_t i = 0; i < 9; ++i) EXPECT_TRUE(gossip.node(i).heard().empty());
  });
  gossip.engine().run(ns(100'000));
  for (uint32_t i = 0; i < 9; ++i) {
    if (!gossip.node(i).heard().empty()) first = std::min(first, gossip.node(i).heard().front().at);
  }
  EXPECT_LE(acted, first);
}

TEST(Engine, ProgressGoesOnWhileNothingHappens) {
  IdleClock clock;
  Gossip gossip{1, 9, 1, &clock};
  clock.engine = &gossip.engine();
  EXPECT_EQ(gossip.engine().run(Instant::never()), RunEnd::kStopped);
  EXPECT_LT(clock.horizon(), Instant::at(Duration::ms(2))) << "who waits for a millisecond would wait for ever";
}

}  // namespace
}  // namespace softspine::tests
