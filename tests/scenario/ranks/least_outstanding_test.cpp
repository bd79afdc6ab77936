// SPDX-License-Identifier: Apache-2.0
// Messages that go by the queue pair with the fewest bytes outstanding: which one that is, drawn against a slow
// reference; that each message comes once and is known for what it is, also where frames are lost and messages overtake
// each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/ranks/rank_fabric.hpp"

namespace softspine::testbeds {
namespace {

using namespace dataplane;

constexpr uint32_t kPairs = 4;
constexpr uint32_t kDepth = 3;
using Connections = RankConnections;

RankConnection connection_of(uint32_t pairs) {
  RankConnection out{.peer = 1, .depth = kDepth};
  for (uint32_t i = 0; i < pairs; ++i) {
    out.flows.push_back(i);
    out.sinks.push_back(i);
  }
  return out;
}

// Every message that is under way, by queue pair; asked anew each time.
class SlowSender {
 public:
  explicit SlowSender(uint32_t pairs) : under_way_(pairs) {}

  std::optional<uint32_t> choose() const {
    std::optional<uint32_t> best;
    for (uint32_t i = 0; i < under_way_.size(); ++i) {
      if (under_way_[i].size() < kDepth && (!best || bytes(i) < bytes(*best))) best = i;
    }
    return best;
  }
  void post(uint32_t pair, const OpenOperation& op) { under_way_[pair].push_back(op); }
  // Of a queue pair the first that was posted is complete first.
  std::optional<OpenOperation> complete(uint32_t pair) {
    if (under_way_[pair].empty()) return std::nullopt;
    const OpenOperation out = under_way_[pair].front();
    under_way_[pair].pop_front();
    return out;
  }

 private:
  uint64_t bytes(uint32_t pair) const {
    uint64_t sum = 0;
    for (const OpenOperation& op : under_way_[pair]) sum += op.bytes;
    return sum;
  }
  std::vector<std::deque<OpenOperation>> under_way_;
};

TEST(LeastOutstanding, ChoosesAsOneWhoAddsUpEverythingThatIsUnderWay) {
  for (uint32_t round = 0; round < tests::to_draw(200); ++round) {
    Rng rng{tests::seed(), round};
    const auto pairs = static_cast<uint32_t>(1 + rng.below(6));
    const Connections table({connection_of(pairs)}, QueuePairScaling::kLeastOutstanding);
    Connections::Connection it = table[0];
    SlowSender slow(pairs);
    for (uint64_t message = 0; message < 300;) {
      if (rng.below(2) == 0) {
        if (const auto done = slow.complete(static_cast<uint32_t>(rng.below(pairs)))) table.end_part(it, *done, 0);
        continue;
      }
      const auto best = slow.choose();
      ASSERT_EQ(table.has_room(it, message), best.has_value());
      if (!best) continue;
      OpenOperation op{.bytes = rng.below(5) * 1000, .message = message};
      op.queue_pair = table.choose(it, message);
      ASSERT_EQ(op.queue_pair, *best) << "seed " << tests::seed() << ", round " << round << ", message " << message;
      table.begin_part(it, op, 0);
      slow.post(op.queue_pair, op);
      ++message;
    }
  }
}

// By each queue pair in its order, among each other in any; their numbers pass 2^32.
TEST(LeastOutstanding, KnowsAMessageByItsImmediateDataInWhateverOrderTheyCome) {
  for (uint32_t round = 0; round < tests::to_draw(200); ++round) {
    Rng rng{tests::seed(), round};
    const Connections table({connection_of(kPairs)}, QueuePairScaling::kLeastOutstanding);
    Connections::Connection it = table[0];
    const uint64_t first = (uint64_t{1} << 32U) - 40;
    it.arrived_up_to = it.receives_started = first;
    std::vector<std::deque<uint64_t>> under_way(kPairs);
    std::vector<uint64_t> numbers(kPairs);
    std::set<uint64_t> come;
    for (uint64_t next = first; come.size() < 100;) {
      const auto pair = static_cast<uint32_t>(rng.below(kPairs));
      if (next < first + 100 && rng.below(2) == 0) under_way[pair].push_back(next++);
      const auto from = static_cast<uint32_t>(rng.below(kPairs));
      if (under_way[from].empty()) continue;
      const uint64_t message = under_way[from].front();
      under_way[from].pop_front();
      ASSERT_EQ(table.arrive(it, from, numbers[from]++, static_cast<uint32_t>(message)), message);
      come.insert(message);
      for (uint64_t m = first; m < first + 100; ++m) ASSERT_EQ(table.arrived_parts(it, m), come.contains(m) ? 1U : 0U);
      if (it.receives_started < first + 100 && rng.below(2) == 0) ++it.receives_started;
      const auto not_asked_for = std::ranges::count_if(come, [&](uint64_t m) { return m >= it.receives_started; });
      ASSERT_EQ(table.unclaimed(it), static_cast<uint64_t>(not_asked_for));
    }
    EXPECT_EQ(it.arrived_up_to, first + 100);
    EXPECT_TRUE(it.early.empty());
  }
}

// Each size has one sender and one receiver, which say so; several queue pairs, few places.
std::vector<Script> two_ways(uint32_t messages) {
  std::vector<Script> scripts(2);
  for (uint32_t i = 0; i < messages; ++i) {
    for (uint32_t r = 0; r < 2; ++r) {
      const uint64_t bytes = i % 5 == 0 ? 200'000 : 3'000 + i;
      scripts[r].push_back(send(1 - r, bytes));
      scripts[r].push_back(receive(1 - r, bytes));
    }
  }
  return scripts;
}

RankSetup least_setup(control::TransportKind transport, bool admission) {
  RankSetup setup;
  setup.transport = transport;
  setup.queue_pairs = kPairs;
  setup.depth = kDepth;
  setup.admission = admission;
  setup.rank.scaling = QueuePairScaling::kLeastOutstanding;
  return setup;
}

void expect_all_came(RankFabric& ranks, uint32_t messages) {
  for (uint32_t r = 0; r < 2; ++r) {
    const RankCounters& counters = ranks.program(r).counters();
    EXPECT_EQ(counters.done[0], messages);
    EXPECT_EQ(counters.done[1], messages);
    EXPECT_EQ(counters.bytes[1], ranks.program(1 - r).counters().bytes[0]);
  }
}

TEST(LeastOutstanding, CarriesEachMessageOnce) {
  for (const auto transport : {control::TransportKind::kOpenLoop, control::TransportKind::kReliable}) {
    for (const bool admission : {false, true}) {
      RankFabric ranks{two_ways(60), least_setup(transport, admission)};
      ranks.run_to_the_end();
      expect_all_came(ranks, 60);
    }
  }
}

// A queue pair that repeats what was lost stays behind; the others go on, and their messages overtake its.
TEST(LeastOutstanding, CarriesEachMessageOnceOverAPathThatLoses) {
  RankSetup setup = least_setup(control::TransportKind::kReliable, true);
  setup.lost_share = LinkFault::kEvery / 50;
  setup.ack_timeout = 6;
  RankFabric ranks{two_ways(200), setup};
  ranks.run_to_the_end();
  expect_all_came(ranks, 200);
  std::map<uint64_t, uint32_t> messages;
  for (uint32_t sink = 0; sink < ranks.host(0).sink_count(); ++sink) {
    const FlowReceived& seen = ranks.host(0).received(sink);
    if (seen.id % 2 == 0) ++messages[seen.messages];
  }
  EXPECT_GT(messages.size(), 1U) << "all queue pairs carried as much: nobody chose";
}

TEST(LeastOutstanding, IsTheSameOnAnyNumberOfWorkers) {
  std::vector<DoneOperation> alone;
  for (const uint32_t workers : {1U, 2U}) {
    RankSetup setup = least_setup(control::TransportKind::kReliable, true);
    setup.workers = workers;
    setup.lost_share = LinkFault::kEvery / 100;
    RankFabric ranks{two_ways(100), setup};
    ranks.run_to_the_end();
    std::vector<DoneOperation> all = ranks.done(0).list();
    all.insert(all.end(), ranks.done(1).list().begin(), ranks.done(1).list().end());
    if (workers == 1) alone = all;
    EXPECT_EQ(all, alone) << workers;
  }
}

}  // namespace
}  // namespace softspine::testbeds
