// SPDX-License-Identifier: Apache-2.0
// Every collective by every algorithm on data: each rank ends with what it should, in whatever order its operations
// run, with as few open as least_window() says.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "control/collectives/collective_algorithms.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/collectives/symbolic_ranks.hpp"

namespace softspine::tests {
namespace {

using control::Collective;
using control::CollectiveAlgorithm;
using control::CollectiveProtocol;
using control::CollectiveShape;

std::string text_of(const CollectiveShape& shape) {
  return std::string(control::kCollectiveWords[static_cast<size_t>(shape.collective)].word) + " by " +
         std::string(control::algorithm_row(shape.algorithm)->word) + ", ranks " + std::to_string(shape.ranks) +
         ", a server " + std::to_string(shape.per_server) + ", bytes " + std::to_string(shape.bytes) + ", channels " +
         std::to_string(shape.channels) + ", chunk " + std::to_string(shape.chunk_bytes) + ", slices " +
         std::to_string(shape.slices) + ", slots " + std::to_string(shape.slots) + ", root " +
         std::to_string(shape.root) + ", protocol " + std::to_string(static_cast<int>(shape.protocol));
}

void expect_right(const CollectiveShape& shape) {
  SymbolicRanks ranks(shape, seed());
  EXPECT_EQ(ranks.run(), "") << text_of(shape) << "; SOFTSPINE_SEED=" << seed();
}

template <typename Body>
void for_each_way(Body&& body) {
  for (const auto& row : control::kCollectiveAlgorithms) {
    for (const auto& [collective, word] : control::kCollectiveWords) {
      if (row.has(collective)) body(CollectiveShape{.collective = collective, .algorithm = row.algorithm});
    }
  }
}

const std::array<uint32_t, 18> kRanks{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 64};

TEST(CollectiveData, EveryRankEndsWithTheRightResult) {
  for_each_way([](CollectiveShape shape) {
    for (const uint32_t ranks : kRanks) {
      shape.ranks = ranks;
      shape.root = ranks / 2;
      shape.chunk_bytes = 48;
      for (const uint64_t bytes : {uint64_t{ranks} * 96, uint64_t{ranks} * 40 + 13}) {
        shape.bytes = bytes;
        expect_right(shape);
      }
    }
  });
}

TEST(CollectiveData, ServersOfSeveralGpusAreRight) {
  for_each_way([](CollectiveShape shape) {
    for (const auto& [servers, gpus] : {std::pair{1U, 2U}, {1U, 8U}, {2U, 8U}, {3U, 3U}, {5U, 4U}}) {
      shape.ranks = servers * gpus;
      shape.per_server = gpus;
      shape.root = shape.ranks / 2;
      shape.bytes = uint64_t{shape.ranks} * 900 + 13;
      shape.chunk_bytes = 300;
      expect_right(shape);
    }
  });
}

// Each channel has an order of its own, and enough bytes to be used.
TEST(CollectiveData, ServersOfSeveralGpusAreRightOnEachChannel) {
  for_each_way([](CollectiveShape shape) {
    for (const auto& [servers, gpus] : {std::pair{2U, 2U}, {3U, 2U}, {3U, 3U}}) {
      shape.ranks = servers * gpus;
      shape.per_server = gpus;
      shape.channels = gpus + 1;
      shape.bytes = uint64_t{shape.ranks} * shape.channels * 4096 + 13;
      shape.chunk_bytes = 7000;
      expect_right(shape);
    }
  });
}

// Nothing leaves its rail, whatever a rank sends to its own server. Each rank passes on as much as the others of its
// server pass on for it.
TEST(CollectiveData, ByTheGpuOnTheReceiversRailIsRight) {
  for_each_way([](CollectiveShape shape) {
    if (shape.algorithm != CollectiveAlgorithm::kDirect) return;
    shape.pxn = true;
    for (const auto& [servers, gpus] : {std::pair{2U, 2U}, {2U, 8U}, {3U, 3U}, {5U, 4U}, {4U, 2U}}) {
      shape.ranks = servers * gpus;
      shape.per_server = gpus;
      for (const uint32_t channels : {1U, 3U}) {
        shape.channels = channels;
        shape.bytes = uint64_t{shape.ranks} * shape.channels * 4096 + 13;
        shape.chunk_bytes = 1000;
        expect_right(shape);
        for (uint32_t rank = 0; rank < shape.ranks; ++rank) {
          for (const auto& each : control::connections_of(shape, rank)) {
            EXPECT_TRUE(each.peer / gpus == rank / gpus || each.peer % gpus == rank % gpus)
                << text_of(shape) << ": " << rank << " to " << each.peer;
          }
        }
      }
    }
  });
}

CollectiveShape by_pxn(Collective collective, uint32_t servers, uint32_t gpus) {
  CollectiveShape shape{.collective = collective, .algorithm = CollectiveAlgorithm::kDirect};
  shape.ranks = servers * gpus;
  shape.per_server = gpus;
  shape.channels = 2;
  shape.bytes = uint64_t{shape.ranks} * shape.channels * 4096 + 13;
  shape.chunk_bytes = 1000;
  shape.slots = 2;
  shape.pxn = true;
  return shape;
}

uint64_t worked_bytes(const CollectiveShape& shape) {
  uint64_t out = 0;
  for (uint32_t rank = 0; rank < shape.ranks; ++rank) {
    const auto stream = control::stream_of(shape, rank);
    for (control::Operation op; stream->next(op);) out += op.kind == control::OperationKind::kReduce ? op.bytes : 0;
  }
  return out;
}

// Who passes a message on copies nothing: its NIC reads what NVLink has brought.
TEST(CollectiveData, PassingOnTakesNoWork) {
  for (const Collective collective : {Collective::kAllToAll, Collective::kReduceScatter}) {
    CollectiveShape shape = by_pxn(collective, 3, 3);
    const uint64_t with = worked_bytes(shape);
    shape.pxn = false;
    EXPECT_EQ(with, worked_bytes(shape)) << text_of(shape);
  }
}

// NCCL's distances: 1, 3, 6, 10 … modulo the next power of two, those below n.
std::vector<uint32_t> distances_of(uint32_t ranks, uint32_t power) {
  std::vector<uint32_t> out;
  for (uint32_t sum = 0, k = 1; out.size() < ranks - 1; ++k) {
    sum = (sum + k) % power;
    if (sum != 0 && sum < ranks) out.push_back(sum);
  }
  return out;
}

// A message that another one passes on, and those that this one passes on, by the channel of their round among eight.
TEST(CollectiveData, RoundsThatRunAtOncePassOnByChannelsOfTheirOwn) {
  const CollectiveShape shape = by_pxn(Collective::kAllToAll, 5, 4);
  const std::vector<uint32_t> distances = distances_of(shape.ranks, 32);
  for (uint32_t rank = 0; rank < shape.ranks; ++rank) {
    std::set<std::pair<uint32_t, uint32_t>> expected;
    const auto add = [&](uint32_t from, size_t round) {
      const uint32_t to = (from + distances[round]) % shape.ranks;
      const uint32_t relay = from / 4 * 4 + to % 4;
      if (from / 4 == to / 4 || relay == from || (rank != from && rank != relay)) return;
      for (uint32_t channel = 0; channel < shape.channels; ++channel)
        expected.emplace(rank == from ? relay : to, shape.channels + channel * 8 + static_cast<uint32_t>(round % 8));
    };
    for (size_t round = 0; round < distances.size(); ++round) {
      for (uint32_t from = rank / 4 * 4; from < rank / 4 * 4 + 4; ++from) add(from, round);
    }
    std::set<std::pair<uint32_t, uint32_t>> found;
    for (const auto& each : control::connections_of(shape, rank)) {
      if (each.channel >= shape.channels) found.emplace(each.peer, each.channel);
    }
    EXPECT_EQ(found, expected) << rank;
  }
}

// Those of several rounds are on one connection: each waits for its slot, whatever its round.
TEST(CollectiveData, MessagesThatArePassedOnWaitForTheirSlots) {
  const CollectiveShape shape = by_pxn(Collective::kAllToAll, 5, 4);
  uint64_t behind = 0;
  for (uint32_t rank = 0; rank < shape.ranks; ++rank) {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> received;
    const auto stream = control::stream_of(shape, rank);
    for (control::Operation op; stream->next(op);) {
      if (op.kind != control::OperationKind::kReceive || op.channel < shape.channels) continue;
      if (++received[{op.peer, op.channel}] <= shape.slots) continue;
      ++behind;
      ASSERT_FALSE(op.needs.empty()) << rank << " from " << op.peer << " on " << op.channel;
    }
  }
  EXPECT_GT(behind, 0u);
}

TEST(CollectiveData, FewerBytesThanRanksAndNoneAtAllAreRight) {
  for_each_way([](CollectiveShape shape) {
    for (const uint32_t ranks : {2U, 5U, 8U, 13U}) {
      shape.ranks = ranks;
      for (const uint64_t bytes : {0U, 1U, ranks - 1, ranks, ranks + 1}) {
        shape.bytes = bytes;
        expect_right(shape);
      }
    }
  });
}

TEST(CollectiveData, ChannelsCutTheBytesAndEachIsRight) {
  for_each_way([](CollectiveShape shape) {
    shape.ranks = 5;
    shape.channels = 3;
    shape.bytes = 3 * 5 * 8192 + 77;
    shape.chunk_bytes = 7000;
    expect_right(shape);
    shape.ranks = 4;
    shape.protocol = CollectiveProtocol::kLl;
    shape.bytes = 2 * 4 * 8192;
    expect_right(shape);
  });
}

TEST(CollectiveData, RandomShapesAreRight) {
  std::mt19937_64 random(seed());
  const auto draw = [&](uint64_t least, uint64_t most) { return least + random() % (most - least + 1); };
  for (uint32_t i = 0; i < to_draw(60); ++i) {
    for_each_way([&](CollectiveShape shape) {
      shape.per_server = draw(0, 1) == 0 ? 1 : static_cast<uint32_t>(draw(2, 5));
      shape.ranks =
          static_cast<uint32_t>(shape.per_server * draw(shape.per_server == 1 ? 2 : 1, 20 / shape.per_server));
      shape.root = static_cast<uint32_t>(draw(0, shape.ranks - 1));
      shape.protocol = static_cast<CollectiveProtocol>(draw(1, 3));
      shape.channels = static_cast<uint32_t>(draw(1, 4));
      shape.bytes = draw(0, 1) == 0 ? draw(0, 400) : draw(0, 40'000);
      shape.chunk_bytes = draw(shape.bytes / 20 + 1, shape.bytes + 1);
      shape.slices = static_cast<uint32_t>(draw(0, 3));
      shape.slots = static_cast<uint32_t>(draw(0, 3));
      shape.pxn = shape.algorithm == CollectiveAlgorithm::kDirect && draw(0, 1) == 0;
      expect_right(shape);
    });
  }
}

}  // namespace
}  // namespace softspine::tests
