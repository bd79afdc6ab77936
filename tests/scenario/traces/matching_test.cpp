// SPDX-License-Identifier: Apache-2.0
// Random programs with wildcards: each rank does, with what has come to it, what a plain matcher does, in the same
// order at the same picoseconds.
#include <gtest/gtest.h>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/traces/plain_matcher.hpp"

namespace softspine::testbeds {
namespace {

using namespace dataplane;
using control::OperationKind;

constexpr uint32_t kOperations = 120;
constexpr uint32_t kTags = 3;

TracedOperation send_to(uint32_t peer, uint64_t bytes, uint32_t tag) {
  return {.kind = OperationKind::kSend, .peer = peer, .tag = tag, .bytes = bytes};
}
TracedOperation receive_of(uint32_t peer, uint32_t tag) {
  return {.kind = OperationKind::kReceive, .peer = peer, .tag = tag, .bytes = 1'000};
}
TracedOperation compute_for(Duration time) {
  return {.time = time};
}

void add(TracedRank& rank, TracedOperation op, Rng& rng) {
  op.cpu = static_cast<uint32_t>(rng.below(3));
  for (uint64_t n = rank.size() - std::min<size_t>(rank.size(), 8); n < rank.size(); ++n) {
    if (op.needs.size() < 2 && rng.below(5) == 0) op.needs.push_back(n);
    if (op.needs_started.empty() && rng.below(8) == 0) op.needs_started.push_back(n);
  }
  rank.push_back(std::move(op));
}

uint64_t some_bytes(Rng& rng) {
  constexpr uint64_t kMost[]{1, 200, 5'000, 30'000};
  return rng.below(kMost[rng.below(4)]);
}

// With some wildcards only, one may take what another receive waits for: then the program does not end. With none, or
// nothing else, it does.
std::vector<TracedRank> some_ranks(Rng& rng) {
  std::vector<TracedRank> ranks(2 + rng.below(3));
  constexpr uint64_t kExact[]{0, 7, 8};  // of 8 receives
  const uint64_t exact = kExact[rng.below(3)];
  for (uint32_t i = 0; i < kOperations; ++i) {
    const auto a = static_cast<uint32_t>(rng.below(ranks.size()));
    const auto b = static_cast<uint32_t>(rng.below(ranks.size()));
    const auto tag = static_cast<uint32_t>(rng.below(kTags));
    if (rng.below(6) == 0) {
      const auto time = static_cast<int64_t>(rng.below(3) == 0 ? 0 : rng.below(5'000'000));
      add(ranks[a], compute_for(Duration::ps(time)), rng);
      continue;
    }
    const uint32_t from = rng.below(8) >= exact ? control::kAnyRank : a;
    const uint32_t with = rng.below(8) >= exact ? control::kAnyTag : tag;
    const bool receives_first = rng.below(2) == 0;
    if (receives_first) add(ranks[b], receive_of(from, with), rng);
    add(ranks[a], send_to(b, some_bytes(rng), tag), rng);
    if (!receives_first) add(ranks[b], receive_of(from, with), rng);
  }
  return ranks;
}

struct DrawnTrace {
  std::vector<TracedRank> ranks;
  uint32_t window = 0;
  TraceCosts costs;

  explicit DrawnTrace(uint64_t seed) {
    Rng rng{seed, 3};
    window = rng.below(3) == 0 ? 1 + static_cast<uint32_t>(rng.below(10)) : 1'024;
    if (rng.below(2) == 0) costs = {.post = Duration::ns(300), .receive = Duration::ns(200), .byte = Duration::ps(3)};
    ranks = some_ranks(rng);
  }
};

std::vector<Arrival> from_others(const TraceLog& log, uint32_t rank) {
  std::vector<Arrival> out = log.arrivals;
  std::erase_if(out, [&](const Arrival& it) { return it.source == rank; });
  return out;
}

void expect_as_plain(const DrawnTrace& trace, const TraceFabric& fabric, uint32_t rank) {
  PlainMatcher plain{rank, trace.ranks[rank], trace.window, trace.costs, from_others(fabric.log(rank), rank)};
  plain.run();
  const auto& done = fabric.log(rank).list;
  ASSERT_EQ(done.size(), plain.done.size());
  for (size_t i = 0; i < done.size(); ++i) ASSERT_EQ(done[i], plain.done[i]) << "the " << i << "th of rank " << rank;
  std::vector<size_t> waiting;
  for (const UnfinishedTraceOperation& each : fabric.program(rank).unfinished()) {
    if (each.waits_for_message) waiting.push_back(each.number);
  }
  EXPECT_EQ(waiting, plain.waiting);
  EXPECT_EQ(fabric.program(rank).unclaimed_messages(), plain.unclaimed());
  EXPECT_EQ(fabric.program(rank).state() == TraceProgram::State::kEnded, done.size() == trace.ranks[rank].size());
}

TEST(Matching, IsThatOfAPlainMatcherInRandomProgramsWithWildcards) {
  const uint32_t rounds = tests::to_draw(400);
  uint64_t ended = 0;
  for (uint32_t round = 0; round < rounds && !testing::Test::HasFatalFailure(); ++round) {
    const uint64_t seed = tests::seed() * 10'000 + round;
    SCOPED_TRACE(seed);
    const DrawnTrace trace{seed};
    TraceFabric fabric{trace.ranks, trace.window, trace.costs};
    fabric.run();
    for (uint32_t rank = 0; rank < trace.ranks.size(); ++rank) {
      expect_as_plain(trace, fabric, rank);
      ended += fabric.program(rank).state() == TraceProgram::State::kEnded ? 1 : 0;
    }
  }
  EXPECT_GT(ended, rounds / 2) << "most programs should come to their end";
}

// A queue pair of one place: what waits for it holds nobody up but the window.
TEST(Matching, DoesNotDependOnThePlacesOfAQueuePair) {
  for (uint32_t round = 0; round < tests::to_draw(40); ++round) {
    DrawnTrace trace{tests::seed() * 20'000 + round};
    SCOPED_TRACE(round);
    trace.window = 1'024;
    TraceFabric fabric{trace.ranks, trace.window, trace.costs, 1};
    fabric.run();
    for (uint32_t rank = 0; rank < trace.ranks.size(); ++rank) expect_as_plain(trace, fabric, rank);
  }
}

TEST(Matching, TakesMessagesOfOneSourceInTheirOrder) {
  TracedRank sender;
  TracedRank receiver;
  for (uint32_t i = 0; i < 50; ++i) sender.push_back(send_to(1, 100 * (i % 7), i % 2));
  for (uint32_t i = 0; i < 50; ++i)
    receiver.push_back(receive_of(i % 3 == 0 ? control::kAnyRank : 0, control::kAnyTag));
  TraceFabric fabric{{sender, receiver}, 1'024, {}};
  fabric.run();
  const auto& list = fabric.log(1).list;
  ASSERT_EQ(list.size(), 50u);
  for (uint32_t i = 0; i < 50; ++i) {
    EXPECT_EQ(list[i].number, i);
    EXPECT_EQ(list[i].tag, i % 2);
  }
}

TEST(Matching, CountsMessagesThatAreLongerThanTheirReceives) {
  const auto of_bytes = [](uint64_t bytes) {
    TracedOperation out = receive_of(0, 1);
    out.bytes = bytes;
    return out;
  };
  TraceFabric fabric{
      {{send_to(1, 100, 1), send_to(1, 100, 1), send_to(1, 100, 1)}, {of_bytes(99), of_bytes(100), of_bytes(101)}},
      16,
      {}};
  fabric.run();
  EXPECT_EQ(fabric.program(1).counters().longer, 1u);
  EXPECT_EQ(fabric.program(1).counters().received_bytes, 300u);
}

// Both receive 100 messages before they send any: 101 operations must be open.
TEST(Windows, ThatAreTooSmallAreNamed) {
  std::vector<TracedRank> ranks(2);
  for (uint32_t r = 0; r < 2; ++r) {
    for (uint32_t i = 0; i < 100; ++i) ranks[r].push_back(receive_of(1 - r, i));
    for (uint32_t i = 0; i < 100; ++i) ranks[r].push_back(send_to(1 - r, 8, i));
  }
  {
    TraceFabric small{ranks, 100, {}};
    small.run();
    EXPECT_TRUE(small.program(0).is_window_full());
    EXPECT_EQ(small.program(0).unfinished().size(), 100u);
  }
  TraceFabric large{ranks, 101, {}};
  large.run();
  EXPECT_EQ(large.program(0).state(), TraceProgram::State::kEnded);
  EXPECT_EQ(large.program(0).counters().opened_late, 0u) << "sends cost nothing: all are opened at the start";
}

TEST(Windows, SayWhetherTheyHaveHeldSomethingUp) {
  TracedRank rank;
  for (uint32_t i = 0; i < 10; ++i) rank.push_back(compute_for(Duration::us(1)));
  rank.push_back({.cpu = 1, .time = Duration::us(1)});
  {
    TraceFabric small{{rank, {}}, 4, {}};
    small.run();
    EXPECT_EQ(small.program(0).counters().opened_late, 7u);
  }
  TraceFabric large{{rank, {}}, 11, {}};
  large.run();
  EXPECT_EQ(large.program(0).counters().opened_late, 0u);
  EXPECT_EQ(large.log(0).list[0].done, large.log(0).list[1].done) << "of both cpus at once";
}

// It may start when the first has started, long before that one is done.
TEST(StartedNeeds, WaitForAStartAlone) {
  TracedRank rank;
  rank.push_back(compute_for(Duration::us(5)));
  rank.push_back({.time = Duration::us(3)});                                  // the same cpu: from 5 to 8
  rank.push_back({.cpu = 1, .time = Duration::us(1), .needs_started = {1}});  // from 5 to 6
  rank.push_back({.cpu = 1, .time = Duration::us(1), .needs = {1}});          // from 8 to 9
  TraceFabric fabric{{rank, {}}, 16, {}};
  fabric.run();
  std::vector<std::pair<int64_t, int64_t>> times(4);
  for (const DoneTraced& each : fabric.log(0).list)
    times[each.number] = {each.started.count_ps() / 1'000'000, each.done.count_ps() / 1'000'000};
  EXPECT_EQ(times, (std::vector<std::pair<int64_t, int64_t>>{{0, 5}, {5, 8}, {5, 6}, {8, 9}}));
}

TEST(SelfMessages, TakeNoTime) {
  TracedRank rank{receive_of(0, 7), send_to(0, 4'000, 7)};
  TraceFabric fabric{{rank, {}}, 16, {}};
  fabric.run();
  EXPECT_EQ(fabric.program(0).state(), TraceProgram::State::kEnded);
  EXPECT_EQ(fabric.program(0).counters().ended, Instant{});
}

}  // namespace
}  // namespace softspine::testbeds
