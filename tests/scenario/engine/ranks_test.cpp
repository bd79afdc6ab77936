// SPDX-License-Identifier: Apache-2.0
// A fabric spread over ranks, which are threads here and share nothing but bytes: every node hears what it hears in
// one process, at the same instants, whatever control does meanwhile.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "dataplane/ranks/packet_bytes.hpp"
#include "tests/harness/rank_threads.hpp"
#include "tests/scenario/engine/gossip.hpp"

namespace softspine::tests {
namespace {

constexpr uint32_t kNodes = 24;

constexpr Instant at_ns(int64_t n) {
  return Instant::at(Duration::ns(n));
}

struct HeardBy {
  std::vector<Chatter::Heard> words;
  uint64_t sent = 0;
  uint64_t lost = 0;
  friend bool operator==(const HeardBy&, const HeardBy&) = default;
};

void fail_on_loss(const LostRank& lost) {
  ADD_FAILURE() << "rank " << lost.rank << " was lost: " << static_cast<int>(lost.why);
}

// One rank's part of a ring of racks (gossip.hpp), three nodes each.
class Part {
 public:
  // `wall`: null for the virtual clock.
  Part(RankLink& link, uint32_t workers, FollowingClock* wall = nullptr)
      : talk_(link, fail_on_loss),
        engine_(wall != nullptr ? static_cast<Clock&>(*wall) : clock_,
                {.workers = workers,
                 .on_worker_start = [](uint32_t) { register_worker_thread(); },
                 .on_worker_stop = [](uint32_t) { unregister_worker_thread(); },
                 .ranks = {link.ranks() == 1 ? nullptr : &talk_, &packet_pool(), wall}}),
        nodes_(kNodes) {
    for (uint32_t i = 0; i < kNodes; ++i) {
      const uint32_t share = i / 3 * link.ranks() * workers / (kNodes / 3);
      if (share / workers != link.rank()) {
        engine_.add_elsewhere(share / workers, share % workers, "elsewhere", 4);
        continue;
      }
      const NodeId id = engine_.add(std::make_unique<Chatter>(4, 12), share % workers);
      nodes_[i] = static_cast<Chatter*>(&engine_.node(id));
    }
    for (uint32_t i = 0; i < kNodes; ++i) {
      const Duration length = Duration::ns(100 + 37 * static_cast<int64_t>(i % 3));
      const auto away = [&](uint32_t to) { return i / 3 == to / 3 ? Duration{} : Duration::ns(1'000); };
      const uint32_t next = (i + 1) % kNodes;
      const uint32_t over = (i + 2) % kNodes;
      engine_.connect({NodeId{i}, PortNo{0}}, {NodeId{next}, PortNo{1}}, Rate::gbps(100), length + away(next));
      engine_.connect({NodeId{i}, PortNo{2}}, {NodeId{over}, PortNo{3}}, Rate::gbps(25), length * 2 + away(over));
    }
  }
  ~Part() { engine_.drain(); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  Engine& engine() { return engine_; }
  void say(uint32_t node, Instant at, uint64_t word) {
    if (nodes_[node] != nullptr) nodes_[node]->say_at(at, static_cast<uint16_t>(node % 4), word, 12);
  }
  void begin() {
    for (uint32_t i = 0; i < kNodes; ++i) say(i, at_ns(5), i * 1000);
  }
  // Between racks 0 and 1, and the last one and 0: cut wherever there is more than one rank.
  void act() {
    for (const uint32_t node : {2U, 23U}) {
      engine_.at(at_ns(4'000), [this, node](Instant now) { engine_.set_link({NodeId{node}, PortNo{0}}, false, now); });
      engine_.at(at_ns(9'000), [this, node](Instant now) { engine_.set_link({NodeId{node}, PortNo{0}}, true, now); });
    }
    engine_.look_at(at_ns(6'500), [this](Instant now) { events_.emplace_back(now, engine_.next_event()); });
    for (uint32_t node = 0; node < kNodes; ++node) {
      engine_.at(at_ns(7'000), [this, node](Instant now) {
        if (nodes_[node] == nullptr) return;
        say(node, now, 77);
        engine_.wake(NodeId{node}, now);
      });
    }
  }
  std::map<uint32_t, HeardBy> heard() {
    std::map<uint32_t, HeardBy> out;
    for (uint32_t i = 0; i < kNodes; ++i) {
      for (uint16_t p = 0; p < 4; ++p) {
        const LinkCounters& counters = engine_.node(NodeId{i}).transmitter(PortNo{p}).counters();
        out[i].sent += counters.packets;
        out[i].lost += counters.never_arrived();
      }
      if (nodes_[i] != nullptr) out[i].words = nodes_[i]->heard();
    }
    return out;
  }
  const std::vector<std::pair<Instant, Instant>>& events() const { return events_; }

 private:
  RankTalk talk_;
  VirtualClock clock_;
  Engine engine_;
  std::vector<Chatter*> nodes_;  // null: elsewhere
  std::vector<std::pair<Instant, Instant>> events_;
};

struct Outcome {
  std::map<uint32_t, HeardBy> heard;
  std::vector<std::pair<Instant, Instant>> events;
  uint64_t windows = 0;
};

Outcome run(uint32_t ranks, uint32_t workers, bool acts) {
  std::mutex lock;
  Outcome out;
  RankThreads::run(ranks, [&](RankLink& link) {
    if (link.rank() != 0) register_worker_thread();
    {
      Part part{link, workers};
      part.begin();
      if (acts) part.act();
      EXPECT_EQ(part.engine().run(Instant::never()), RunEnd::kIdle);
      const std::lock_guard guard{lock};
      for (auto& [node, heard] : part.heard()) {
        HeardBy& into = out.heard[node];
        if (!heard.words.empty()) into.words = std::move(heard.words);
        into.sent += heard.sent;
        into.lost += heard.lost;
      }
      if (!out.events.empty()) {
        EXPECT_EQ(part.events(), out.events);
      }
      out.events = part.events();
      out.windows = part.engine().stats().windows;
    }
    if (link.rank() != 0) unregister_worker_thread();
  });
  EXPECT_EQ(packet_pool().in_use(), 0U);
  return out;
}

TEST(Ranks, HearWhatOneProcessHears) {
  const Outcome alone = run(1, 1, false);
  EXPECT_GT(alone.heard.at(0).words.size(), 10U);
  for (const auto& [ranks, workers] : {std::pair{2U, 1U}, {2U, 2U}, {3U, 1U}, {4U, 1U}, {4U, 2U}}) {
    const Outcome out = run(ranks, workers, false);
    EXPECT_EQ(out.heard, alone.heard) << ranks << " ranks, " << workers << " workers";
    EXPECT_EQ(out.windows, alone.windows) << "windows do not depend on them either";
  }
}

// Shows the time since its machine booted until it is started.
class BootedClock final : public Clock {
 public:
  explicit BootedClock(Instant boot) : now_(boot) {}
  Instant horizon() noexcept override { return now_; }
  void idle(Instant, uint32_t, const Wake&) noexcept override {}
  bool is_wall() const noexcept override { return true; }
  void start(Instant origin) noexcept override { now_ = origin; }

 private:
  Instant now_;
};

TEST(Ranks, BelieveNoClockThatHasNotStarted) {
  RankThreads::run(3, [](RankLink& link) {
    if (link.rank() != 0) register_worker_thread();
    {
      BootedClock own{Instant::at(Duration::s(100) / (link.rank() + 1))};
      FollowingClock clock{own, Duration::us(1)};
      Part part{link, 1, &clock};
      EXPECT_EQ(part.engine().run(at_ns(0)), RunEnd::kDone);
      EXPECT_EQ(clock.horizon(), at_ns(0)) << "rank " << link.rank();
      EXPECT_EQ(clock.uncertainty(), Duration{}) << "rank " << link.rank();
    }
    if (link.rank() != 0) unregister_worker_thread();
  });
}

// Each rank's own clock is moved by hand, and shows another time than the first one's, or shows less than that by and
// by.
TEST(Ranks, OnTheWallClockShowOneTimeAndHearTheSame) {
  const Outcome alone = run(1, 1, false);
  for (const int64_t slower : {0, 50}) {  // of a thousand
    std::mutex lock;
    std::map<uint32_t, HeardBy> all;
    RankThreads::run(3, [&](RankLink& link) {
      if (link.rank() != 0) register_worker_thread();
      {
        ManualClock own;
        FollowingClock clock{own, Duration::us(1)};
        const Duration offset = Duration::ms(5) * link.rank();
        const auto set = [&](int64_t ns) { own.set(at_ns(ns - ns * slower * link.rank() / 1'000'000) + offset); };
        Part part{link, 1, &clock};
        part.begin();
        set(1'000);  // that is the start
        EXPECT_EQ(part.engine().run(at_ns(0)), RunEnd::kDone);
        EXPECT_EQ(clock.horizon(), at_ns(0)) << "rank " << link.rank();
        EXPECT_EQ(clock.uncertainty(), Duration{});
        for (int64_t at = 97; at <= 618 * 97; at += 97) {
          set(1'000 + at + 30);  // the slowest one, and what it still lacks
          EXPECT_EQ(part.engine().run(at_ns(at)), RunEnd::kDone);
          EXPECT_EQ(part.engine().now(), at_ns(at));
        }
        const Duration lacks = at_ns(618 * 97 + 30) - clock.horizon();  // 6 ns at the last rank, if it followed nobody
        EXPECT_GE(lacks, Duration{}) << "rank " << link.rank();
        EXPECT_LE(lacks, slower == 0 ? Duration{} : Duration::ps(500)) << "rank " << link.rank();
        const std::lock_guard guard{lock};
        for (auto& [node, heard] : part.heard()) {
          HeardBy& into = all[node];
          if (!heard.words.empty()) into.words = std::move(heard.words);
          into.sent += heard.sent;
          into.lost += heard.lost;
        }
      }
      if (link.rank() != 0) unregister_worker_thread();
    });
    EXPECT_EQ(all, alone.heard);
    EXPECT_EQ(packet_pool().in_use(), 0U);
  }
}

TEST(Ranks, ActAlikeAndLoseWhatACutLinkHad) {
  const Outcome alone = run(1, 1, true);
  uint64_t lost = 0;
  for (const auto& [node, heard] : alone.heard) lost += heard.lost;
  EXPECT_GT(lost, 0U);
  for (const auto& [ranks, workers] : {std::pair{2U, 1U}, {3U, 2U}, {4U, 1U}}) {
    const Outcome out = run(ranks, workers, true);
    EXPECT_EQ(out.heard, alone.heard) << ranks << " ranks, " << workers << " workers";
    EXPECT_EQ(out.events, alone.events);
  }
}

TEST(PacketBytes, BringAPacketAsItWas) {
  Packet packet = packet_pool().make(90);
  for (uint32_t i = 0; i < 90; ++i) packet.data()[i] = static_cast<uint8_t>(i * 3);
  packet.meta().frame_bytes = 4'000;
  packet.meta().born = at_ns(11);
  packet.meta().remark = Remark::kCeMarked;
  packet.set_flow(1'234);
  packet.mark_as_copy();
  RankBytes bytes;
  put_message(bytes, {.packet = std::move(packet), .at = at_ns(99), .to = NodeId{70'000}, .port = PortNo{300}});
  EXPECT_EQ(packet_pool().in_use(), 0U);

  RankReader in{bytes};
  auto message = take_message(in, packet_pool());
  ASSERT_TRUE(message && message->packet);
  EXPECT_TRUE(in.empty());
  EXPECT_EQ(std::tuple(message->at, message->to, message->port), std::tuple(at_ns(99), NodeId{70'000}, PortNo{300}));
  const Packet& there = message->packet;
  EXPECT_EQ(std::tuple(there.stored_bytes(), there.frame_bytes(), there.flow(), there.is_copy()),
            std::tuple(90U, 4'000U, 1'234U, true));
  EXPECT_EQ(std::tuple(there.meta().born, there.meta().remark), std::tuple(at_ns(11), Remark::kCeMarked));
  for (uint32_t i = 0; i < 90; ++i) ASSERT_EQ(there.data()[i], static_cast<uint8_t>(i * 3));
  PacketPool::release(std::move(message->packet));
}

TEST(PacketBytes, AreNoMessageWhenTheyEndEarly) {
  RankBytes bytes;
  put_message(bytes, {.packet = packet_pool().make(70), .at = at_ns(1), .to = NodeId{1}, .port = PortNo{0}});
  for (size_t size = 0; size < bytes.size(); ++size) {
    RankReader in{std::span(bytes).first(size)};
    EXPECT_FALSE(take_message(in, packet_pool())) << size;
  }
  EXPECT_EQ(packet_pool().in_use(), 0U);
}

}  // namespace
}  // namespace softspine::tests
