// SPDX-License-Identifier: Apache-2.0
// The ring's messages against a plan that others wrote: astra-sim's custom AllReduce of 8 NPUs (MSCCL XML and Chakra),
// where NPU r sends to r + 1, receives from r − 1, and sends 14 times one eighth.
#include "control/collectives/ring_order.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "control/collectives/collective_work.hpp"

namespace softspine::control {
namespace {

TEST(CollectiveRing, SendsWhatThePlanOfOthersSends) {
  constexpr uint64_t kEighth = (1U << 20U) / 8;
  const CollectiveShape shape{.ranks = 8, .bytes = 8 * kEighth, .chunk_bytes = kEighth, .slices = 1};
  for (uint32_t rank = 0; rank < 8; ++rank) {
    const auto stream = stream_of(shape, rank);
    std::vector<OperationKind> messages;
    Operation operation;
    while (stream->next(operation)) {
      if (operation.kind == OperationKind::kReduce) continue;
      messages.push_back(operation.kind);
      EXPECT_EQ(operation.bytes, kEighth);
      EXPECT_EQ(operation.peer, operation.kind == OperationKind::kSend ? (rank + 1) % 8 : (rank + 7) % 8);
    }
    std::vector<OperationKind> planned;
    for (int i = 0; i < 14; ++i) planned.insert(planned.end(), {OperationKind::kSend, OperationKind::kReceive});
    EXPECT_EQ(messages, planned);
  }
}

TEST(CollectiveRing, NcclsSlicesAreAMebibyteAndTheRestIsCutEvenly) {
  const CollectiveShape big{.ranks = 16, .bytes = uint64_t{1} << 30U, .channels = 8};
  const auto connections = connections_of(big, 3);
  ASSERT_EQ(connections.size(), 8U);
  const uint64_t part = big.bytes / big.channels;
  EXPECT_EQ(connections[7], (CollectiveConnection{4, 7, 4 * 30 * 2, 30 * part / 16, 1U << 20U}));
  // 32 KiB a rank: one slice of 32 KiB, and an empty one.
  const CollectiveShape small{.ranks = 4, .bytes = 128U << 10U};
  EXPECT_EQ(connections_of(small, 0), (std::vector<CollectiveConnection>{{1, 0, 12, 6 * (32U << 10U), 32U << 10U}}));
}

TEST(CollectiveRing, BeginsWithTheChunkOfTheRankBeforeAndEndsWithThatOfTheNext) {
  const CollectiveShape shape{.ranks = 4, .bytes = 400, .chunk_bytes = 100, .slices = 1};
  const auto stream = stream_of(shape, 1);
  std::vector<uint64_t> offsets;
  Operation operation;
  while (stream->next(operation)) {
    if (operation.kind != OperationKind::kReduce) continue;
    const DataUse& data = stream->data();
    offsets.push_back((data.reads == DataPlace::kInput ? data.read_offset : data.write_offset) / data.bytes);
  }
  EXPECT_EQ(offsets, (std::vector<uint64_t>{0, 3, 2, 1, 0, 3, 2}));
}

TEST(CollectiveRing, ASlotIsTakenAgainWhenWhatHeldItIsDone) {
  // Five chunks through the middle of a chain: receive, copy, send each, with two slots a connection.
  const CollectiveShape shape{
      .collective = Collective::kBroadcast, .ranks = 3, .bytes = 500, .chunk_bytes = 100, .slots = 2};
  const auto stream = stream_of(shape, 1);
  std::vector<std::vector<uint64_t>> needs;
  Operation operation;
  while (stream->next(operation)) needs.emplace_back(operation.needs.begin(), operation.needs.end());
  EXPECT_EQ(needs,
            (std::vector<std::vector<uint64_t>>{
                {}, {0}, {1}, {}, {1, 3}, {4}, {1}, {2, 4, 6}, {7}, {4}, {5, 7, 9}, {10}, {7}, {8, 10, 12}, {13}}));
}

// What a server's NICs do for the rings of k channels.
struct Uses {
  std::map<uint32_t, uint32_t> in;   // by rank
  std::map<uint32_t, uint32_t> out;  // likewise
  uint32_t rail_changes = 0;
};

Uses uses_of(const CollectiveShape& shape) {
  Uses uses;
  const uint32_t gpus = shape.per_server;
  for (uint32_t channel = 0; channel < gpus; ++channel) {
    const RingOrder order(shape, channel);
    for (uint32_t position = 0; position < shape.ranks; ++position) {
      const uint32_t from = order.rank_at(position);
      const uint32_t to = order.rank_at((position + 1) % shape.ranks);
      EXPECT_EQ(order.position_of(from), position) << channel;
      if (from / gpus == to / gpus) continue;
      EXPECT_EQ(to / gpus, (from / gpus + 1) % (shape.ranks / gpus));
      ++uses.out[from];
      ++uses.in[to];
      uses.rail_changes += from % gpus == to % gpus ? 0 : 1;
    }
  }
  return uses;
}

TEST(CollectiveRing, GoesOnItsRailFromServerToServerAndUsesEachNicOnce) {
  for (uint32_t gpus = 1; gpus <= 9; ++gpus) {
    for (uint32_t servers = 1; servers <= 9; ++servers) {
      if (gpus * servers < 2) continue;
      const Uses uses = uses_of({.ranks = gpus * servers, .per_server = gpus});
      const bool has_a_last_hop_across = gpus == 2 && servers % 2 == 1 && servers > 1;
      EXPECT_EQ(uses.rail_changes, has_a_last_hop_across ? 2U : 0U) << gpus << " GPUs, " << servers << " servers";
      const size_t nics = servers == 1 ? 0 : size_t{gpus} * servers;
      EXPECT_EQ(uses.in.size(), nics);
      EXPECT_EQ(uses.out.size(), nics);
    }
  }
}

TEST(CollectiveRing, AlternatesBetweenTwoNicsAsNcclDoes) {
  const RingOrder order({.ranks = 8, .per_server = 4}, 1);
  std::vector<uint32_t> ranks;
  for (uint32_t position = 0; position < 8; ++position) ranks.push_back(order.rank_at(position));
  EXPECT_EQ(ranks, (std::vector<uint32_t>{1, 3, 0, 2, 6, 7, 4, 5}));
}

TEST(CollectiveTree, OfServersHangsTheirGpusInAChain) {
  // Two servers of three, channel 1 of two: the second tree, whose root is the last server; heads are GPUs 1.
  const CollectiveShape shape{
      .algorithm = CollectiveAlgorithm::kTree, .ranks = 6, .per_server = 3, .bytes = 6U << 20U, .channels = 2};
  std::map<uint32_t, std::set<uint32_t>> peers;
  for (uint32_t rank = 0; rank < 6; ++rank) {
    for (const CollectiveConnection& each : connections_of(shape, rank)) {
      if (each.channel == 1) peers[rank].insert(each.peer);
    }
  }
  const std::map<uint32_t, std::set<uint32_t>> expected{{4, {5, 1}}, {5, {4, 3}}, {3, {5}},
                                                        {1, {2, 4}}, {2, {1, 0}}, {0, {2}}};
  EXPECT_EQ(peers, expected);
}

}  // namespace
}  // namespace softspine::control
