// SPDX-License-Identifier: Apache-2.0
// The ring's messages against a plan that others wrote: astra-sim's custom AllReduce of 8 NPUs (MSCCL XML and Chakra),
// where NPU r sends to r + 1, receives from r − 1, and sends 14 times one eighth.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace softspine::control
