// SPDX-License-Identifier: Apache-2.0
// Times and bytes of the streams against closed formulas. n ranks, S bytes, B bytes a second, L seconds of latency.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "tests/model/collectives/timed_ranks.hpp"

namespace softspine::tests {
namespace {

using control::Collective;
using control::CollectiveAlgorithm;
using control::CollectiveShape;

constexpr LinkTimes kLink{1e-3, 5};

void expect_time(const CollectiveShape& shape, double formula) {
  const double time = TimedRanks(shape, kLink).run();
  EXPECT_NEAR(time, formula, formula * 1e-9)
      << "ranks " << shape.ranks << ", algorithm " << static_cast<int>(shape.algorithm) << ", collective "
      << static_cast<int>(shape.collective);
}

double seconds(double bytes) {
  return bytes * kLink.seconds_per_byte;
}

TEST(CollectiveTime, RingOfWholeChunks) {
  for (uint32_t n = 2; n <= 64; ++n) {
    const uint64_t chunk = 16 * 1000;
    CollectiveShape shape{.ranks = n, .bytes = n * chunk, .chunk_bytes = chunk, .slices = 1};
    const double step = seconds(chunk) + kLink.latency;
    expect_time(shape, 2 * (n - 1) * step);
    shape.collective = Collective::kAllGather;
    expect_time(shape, (n - 1) * step);
    shape.collective = Collective::kReduceScatter;
    expect_time(shape, (n - 1) * step);
  }
}

// A step takes as long as its slices on the wire, or one slice and the latency; a loop begins when the one before has
// ended.
TEST(CollectiveTime, RingOfSlicesAndLoops) {
  for (const uint32_t n : {2U, 3U, 8U, 31U, 64U}) {
    for (const uint64_t slice : {uint64_t{16}, uint64_t{16'000}}) {
      for (const uint32_t loops : {1U, 3U}) {
        const CollectiveShape shape{
            .ranks = n, .bytes = 2 * slice * n * loops, .chunk_bytes = 2 * slice, .slices = 2, .slots = 4};
        const double one = seconds(static_cast<double>(slice));
        const double step = std::max(2 * one, one + kLink.latency);
        expect_time(shape, loops * ((2 * (n - 1) - 1) * step + 2 * one + kLink.latency));
      }
    }
  }
}

// Chunks follow each other through n − 1 hops.
TEST(CollectiveTime, RingOfPipelines) {
  for (uint32_t n = 2; n <= 64; ++n) {
    for (const Collective collective : {Collective::kBroadcast, Collective::kReduce}) {
      const CollectiveShape shape{
          .collective = collective, .ranks = n, .bytes = 20 * 16'000, .root = n / 3, .chunk_bytes = 16'000};
      expect_time(shape, 19 * seconds(16'000) + (n - 1) * (seconds(16'000) + kLink.latency));
    }
  }
}

// How far the deepest rank is from the root: by the definition, one rank after the other.
uint32_t tree_depth(uint32_t n) {
  uint32_t deepest = 0;
  for (uint32_t rank = 1; rank < n; ++rank) {
    uint32_t hops = 0;
    for (uint32_t at = rank; at != 0; ++hops) {
      const uint32_t bit = 1U << static_cast<uint32_t>(std::countr_zero(at));
      const uint32_t up = (at - bit) | (2 * bit);
      at = up < n ? up : at - bit;
    }
    deepest = std::max(deepest, hops);
  }
  return deepest;
}

TEST(CollectiveTime, TreeIsUpAndDownOnceAndThenAPipeline) {
  for (uint32_t n = 2; n <= 64; ++n) {
    for (const uint32_t chunks : {1U, 10U}) {
      const CollectiveShape shape{.algorithm = CollectiveAlgorithm::kTree,
                                  .ranks = n,
                                  .bytes = uint64_t{16'000} * chunks,
                                  .chunk_bytes = 16'000,
                                  .slots = 16};
      const double hop = seconds(16'000) + kLink.latency;
      expect_time(shape, (chunks - 1) * seconds(16'000) + 2 * tree_depth(n) * hop);
    }
  }
}

TEST(CollectiveTime, HalvingAndDoublingTakesTwiceTheLogarithmOfRounds) {
  for (const uint32_t n : {2U, 4U, 8U, 16U, 32U, 64U}) {
    CollectiveShape shape{.algorithm = CollectiveAlgorithm::kHalvingDoubling, .ranks = n, .bytes = uint64_t{n} * 1024};
    const double rounds = std::log2(n);
    const double wire = seconds(1024.0 * (n - 1));
    expect_time(shape, 2 * (rounds * kLink.latency + wire));
    shape.collective = Collective::kAllGather;
    expect_time(shape, rounds * kLink.latency + wire);
    shape.collective = Collective::kReduceScatter;
    expect_time(shape, rounds * kLink.latency + wire);
  }
}

// Two more messages of all bytes around those of the power of two below.
TEST(CollectiveTime, HalvingAndDoublingFoldsOtherNumbersOfRanks) {
  for (const uint32_t n : {3U, 5U, 7U, 12U, 33U, 63U}) {
    const uint32_t roles = std::bit_floor(n);
    const uint64_t bytes = uint64_t{roles} * 1024;
    const CollectiveShape shape{.algorithm = CollectiveAlgorithm::kHalvingDoubling, .ranks = n, .bytes = bytes};
    const double all = seconds(static_cast<double>(bytes)) + kLink.latency;
    expect_time(shape, 2 * all + 2 * (std::log2(roles) * kLink.latency + seconds(1024.0 * (roles - 1))));
  }
}

// An exchange for each other GPU before and after a ring of servers, which handles 1/n a step.
TEST(CollectiveTime, AHierarchyIsItsThreePhases) {
  for (const auto& [servers, gpus] : {std::pair{2U, 2U}, {3U, 4U}, {8U, 8U}, {1U, 4U}, {5U, 1U}}) {
    const uint32_t n = servers * gpus;
    const CollectiveShape shape{.algorithm = CollectiveAlgorithm::kHierarchical,
                                .ranks = n,
                                .per_server = gpus,
                                .bytes = uint64_t{n} * 1024,
                                .chunk_bytes = 1024,
                                .slices = 1};
    const double exchanges = 2 * (gpus - 1) * (seconds(1024.0 * servers) + kLink.latency);
    const double ring = 2 * (servers - 1) * (seconds(1024) + kLink.latency);
    expect_time(shape, exchanges + ring);
  }
}

// Each pair has a link of its own here, and a message fits the slots.
TEST(CollectiveTime, DirectTakesTheTimeOfOneMessage) {
  for (uint32_t n = 2; n <= 64; ++n) {
    CollectiveShape shape{.collective = Collective::kAllToAll,
                          .algorithm = CollectiveAlgorithm::kDirect,
                          .ranks = n,
                          .bytes = uint64_t{n} * 4096,
                          .chunk_bytes = 4096};
    const double message = seconds(4096) + kLink.latency;
    expect_time(shape, message);
    shape.collective = Collective::kAllGather;
    expect_time(shape, message);
    shape.collective = Collective::kReduceScatter;
    expect_time(shape, message);
    shape.collective = Collective::kSendRecv;
    shape.bytes = 4096;
    expect_time(shape, message);
  }
}

uint64_t sent(const CollectiveShape& shape, uint32_t rank) {
  uint64_t bytes = 0;
  for (const auto& connection : control::connections_of(shape, rank)) bytes += connection.bytes;
  return bytes;
}

TEST(CollectiveBytes, EachRankSendsWhatTheFormulaSays) {
  for (uint32_t n = 2; n <= 33; ++n) {
    for (const uint32_t channels : {1U, 3U, 8U}) {
      CollectiveShape shape{.ranks = n, .bytes = uint64_t{n} * channels * (1U << 18U), .channels = channels};
      const uint64_t block = shape.bytes / n;
      for (uint32_t rank = 0; rank < n; rank += 3) {
        shape.collective = Collective::kAllReduce;
        shape.algorithm = CollectiveAlgorithm::kRing;
        EXPECT_EQ(sent(shape, rank), 2 * (n - 1) * block);
        for (const Collective collective : {Collective::kAllGather, Collective::kReduceScatter}) {
          shape.collective = collective;
          shape.algorithm = CollectiveAlgorithm::kRing;
          EXPECT_EQ(sent(shape, rank), (n - 1) * block);
          shape.algorithm = CollectiveAlgorithm::kDirect;
          EXPECT_EQ(sent(shape, rank), (n - 1) * block);
        }
        shape.collective = Collective::kAllToAll;
        EXPECT_EQ(sent(shape, rank), (n - 1) * block);
      }
    }
  }
}

TEST(CollectiveBytes, ATreeSendsEachByteOverEachEdgeTwice) {
  for (uint32_t n = 2; n <= 33; ++n) {
    const CollectiveShape shape{.algorithm = CollectiveAlgorithm::kTree, .ranks = n, .bytes = 8U << 20U, .channels = 4};
    uint64_t all = 0;
    for (uint32_t rank = 0; rank < n; ++rank) {
      const uint64_t own = sent(shape, rank);
      EXPECT_LE(own, 2 * shape.bytes);  // inner in one tree, a leaf in the other
      all += own;
    }
    EXPECT_EQ(all, 2 * (n - 1) * shape.bytes);
  }
}

// What the stream's messages of one kind sum up to, by channel and peer.
std::vector<control::CollectiveConnection> messages_of(const CollectiveShape& shape, uint32_t rank,
                                                       control::OperationKind kind) {
  std::map<std::pair<uint32_t, uint32_t>, control::CollectiveConnection> found;
  const auto stream = control::stream_of(shape, rank);
  for (control::Operation operation; stream->next(operation);) {
    if (operation.kind != kind) continue;
    auto& into = found[{operation.channel, operation.peer}];
    into.peer = operation.peer;
    into.channel = operation.channel;
    ++into.messages;
    into.bytes += operation.bytes;
    into.largest = std::max(into.largest, operation.bytes);
  }
  std::vector<control::CollectiveConnection> out;
  for (const auto& [key, connection] : found) out.push_back(connection);
  return out;
}

class CollectiveConnections : public testing::TestWithParam<std::pair<Collective, CollectiveAlgorithm>> {};

TEST_P(CollectiveConnections, AreWhatTheStreamSendsAndWhatArrivesAtTheirPeers) {
  for (const uint32_t n : {2U, 7U, 8U}) {
    for (const auto protocol : {control::CollectiveProtocol::kSimple, control::CollectiveProtocol::kLl}) {
      const CollectiveShape shape{.collective = GetParam().first,
                                  .algorithm = GetParam().second,
                                  .protocol = protocol,
                                  .ranks = n,
                                  .bytes = 1'000'003,
                                  .root = n - 1,
                                  .channels = 3};
      std::vector<std::vector<control::CollectiveConnection>> arrived(n);
      for (uint32_t rank = 0; rank < n; ++rank) {
        const auto connections = control::connections_of(shape, rank);
        EXPECT_EQ(connections, messages_of(shape, rank, control::OperationKind::kSend));
        for (auto each : connections) arrived[std::exchange(each.peer, rank)].push_back(each);
      }
      for (uint32_t rank = 0; rank < n; ++rank) {
        const auto received = messages_of(shape, rank, control::OperationKind::kReceive);
        EXPECT_TRUE(std::ranges::is_permutation(arrived[rank], received)) << rank;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, CollectiveConnections,
                         testing::Values(std::pair{Collective::kAllReduce, CollectiveAlgorithm::kRing},
                                         std::pair{Collective::kAllGather, CollectiveAlgorithm::kRing},
                                         std::pair{Collective::kBroadcast, CollectiveAlgorithm::kRing},
                                         std::pair{Collective::kReduce, CollectiveAlgorithm::kRing},
                                         std::pair{Collective::kAllReduce, CollectiveAlgorithm::kTree},
                                         std::pair{Collective::kAllReduce, CollectiveAlgorithm::kHalvingDoubling},
                                         std::pair{Collective::kReduceScatter, CollectiveAlgorithm::kHalvingDoubling},
                                         std::pair{Collective::kAllGather, CollectiveAlgorithm::kHalvingDoubling},
                                         std::pair{Collective::kAllToAll, CollectiveAlgorithm::kDirect},
                                         std::pair{Collective::kReduceScatter, CollectiveAlgorithm::kDirect},
                                         std::pair{Collective::kSendRecv, CollectiveAlgorithm::kDirect}));

}  // namespace
}  // namespace softspine::tests
