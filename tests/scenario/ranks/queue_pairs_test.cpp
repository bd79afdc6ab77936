// SPDX-License-Identifier: Apache-2.0
// A connection's messages over several queue pairs: which goes where, and that each comes once, also where frames are
// lost; and the same operations at the same instants on any number of workers.
#include <gtest/gtest.h>

#include "tests/scenario/ranks/rank_fabric.hpp"

namespace softspine::testbeds {
namespace {

using namespace dataplane;
using control::TransportKind;

constexpr uint64_t kSizes[]{0, 1, 127, 128, 129, 5'000, 70'001, 262'144};
constexpr uint64_t kRounds = 6;

std::vector<Script> both_ways() {
  std::vector<Script> scripts(2);
  for (uint64_t i = 0; i < kRounds; ++i) {
    for (const uint64_t bytes : kSizes) {
      for (uint32_t r = 0; r < 2; ++r) {
        scripts[r].push_back(send(1 - r, bytes));
        scripts[r].push_back(receive(1 - r, bytes));
      }
    }
  }
  return scripts;
}

RankSetup setup_of(QueuePairScaling scaling, TransportKind transport) {
  RankSetup setup;
  setup.transport = transport;
  setup.queue_pairs = 4;
  setup.depth = 3;
  setup.admission = true;
  setup.rank.scaling = scaling;
  return setup;
}

TEST(RankQueuePairs, SplitGivesEachAPartRoundedUpTo128Bytes) {
  EXPECT_EQ(part_bytes(1'000, 4, 0), 256U);
  EXPECT_EQ(part_bytes(1'000, 4, 3), 232U);
  EXPECT_EQ(part_bytes(130, 4, 1), 2U);
  EXPECT_EQ(part_bytes(130, 4, 2), 0U);
  for (const uint64_t bytes : kSizes) {
    uint64_t all = 0;
    for (uint32_t part = 0; part < 7; ++part) all += part_bytes(bytes, 7, part);
    EXPECT_EQ(all, bytes);
  }
}

// On each queue pair, as dealt here by a loop of its own.
void expect_bytes(RankFabric& ranks, QueuePairScaling scaling) {
  std::vector<uint64_t> bytes(4);
  uint64_t message = 0;
  for (uint64_t i = 0; i < kRounds; ++i) {
    for (const uint64_t size : kSizes) {
      for (uint32_t pair = 0; pair < 4; ++pair) {
        const bool is_whole = scaling == QueuePairScaling::kRoundRobin;
        if (!is_whole) bytes[pair] += part_bytes(size, 4, pair);
        if (is_whole && message % 4 == pair) bytes[pair] += size;
      }
      ++message;
    }
  }
  const uint64_t each = scaling == QueuePairScaling::kSplit ? message : message / 4;
  for (uint32_t r = 0; r < 2; ++r) {
    uint32_t pair = 0;
    for (uint32_t sink = 0; sink < ranks.host(r).sink_count(); ++sink) {
      const FlowReceived& seen = ranks.host(r).received(sink);
      if (seen.id % 2 != 0) continue;  // clear-to-sends
      EXPECT_EQ(seen.bytes, bytes[pair]) << pair;
      EXPECT_EQ(seen.messages, each);
      ++pair;
    }
    EXPECT_EQ(pair, 4U);
    EXPECT_EQ(ranks.program(r).counters().done[0], message);
    EXPECT_EQ(ranks.program(r).counters().clears_sent, message);
  }
}

TEST(RankQueuePairs, CarryWhatIsTheirsOnce) {
  for (const auto scaling : {QueuePairScaling::kRoundRobin, QueuePairScaling::kSplit}) {
    for (const auto transport : {TransportKind::kOpenLoop, TransportKind::kReliable}) {
      RankFabric ranks{both_ways(), setup_of(scaling, transport)};
      ranks.run_to_the_end();
      expect_bytes(ranks, scaling);
    }
  }
}

TEST(RankQueuePairs, CarryWhatIsTheirsOnceOverAPathThatLoses) {
  for (const auto scaling : {QueuePairScaling::kRoundRobin, QueuePairScaling::kSplit}) {
    RankSetup setup = setup_of(scaling, TransportKind::kReliable);
    setup.lost_share = LinkFault::kEvery / 50;
    setup.ack_timeout = 6;
    RankFabric ranks{both_ways(), setup};
    ranks.run_to_the_end();
    expect_bytes(ranks, scaling);
    uint64_t again = 0;
    for (uint32_t flow = 0; flow < ranks.host(0).flow_count(); ++flow)
      again += ranks.host(0).sent(flow).reliable.retransmitted_packets;
    EXPECT_GT(again, 20U);
  }
}

TEST(RankQueuePairs, AreTheSameOnAnyNumberOfWorkers) {
  std::vector<DoneOperation> alone;
  for (const uint32_t workers : {1U, 2U, 4U}) {
    RankSetup setup = setup_of(QueuePairScaling::kSplit, TransportKind::kReliable);
    setup.workers = workers;
    setup.lost_share = LinkFault::kEvery / 100;
    std::vector<Script> scripts(5);
    for (uint32_t r = 0; r < 5; ++r) {
      for (uint32_t i = 0; i < 60; ++i) {
        scripts[r].push_back(send((r + 1 + i % 4) % 5, 20'000 + i));
        scripts[r].push_back(receive((r + 4 - i % 4) % 5, 20'000 + i));
      }
    }
    RankFabric ranks{scripts, setup};
    ranks.run_to_the_end();
    std::vector<DoneOperation> all;
    for (uint32_t r = 0; r < 5; ++r) all.insert(all.end(), ranks.done(r).list().begin(), ranks.done(r).list().end());
    if (workers == 1) alone = all;
    EXPECT_EQ(all, alone) << workers;
  }
}

}  // namespace
}  // namespace softspine::testbeds
