// SPDX-License-Identifier: Apache-2.0
// Every collective by every algorithm on data: each rank ends with what it should, in whatever order its operations
// run, with as few open as least_window() says.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
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
