// SPDX-License-Identifier: Apache-2.0
// NCCL's rules of cutting, each at its edges.
#include "control/collectives/cut.hpp"

#include <gtest/gtest.h>

namespace softspine::control {
namespace {

constexpr uint64_t kKib = 1U << 10U;
constexpr uint64_t kMib = 1U << 20U;

TEST(CollectiveCut, LowLatencyProtocolsPutFlagsOnTheWire) {
  EXPECT_EQ(wire_bytes(CollectiveProtocol::kSimple, 1001), 1001U);
  EXPECT_EQ(wire_bytes(CollectiveProtocol::kLl, 1000), 2000U);
  EXPECT_EQ(wire_bytes(CollectiveProtocol::kLl, 1001), 2016U);
  EXPECT_EQ(wire_bytes(CollectiveProtocol::kLl128, 1200), 1280U);
  EXPECT_EQ(wire_bytes(CollectiveProtocol::kLl128, 1201), 1408U);
  for (const auto protocol : {CollectiveProtocol::kSimple, CollectiveProtocol::kLl, CollectiveProtocol::kLl128}) {
    EXPECT_EQ(wire_bytes(protocol, 0), 0U);
  }
}

TEST(CollectiveCut, ChunksSlicesAndSlotsAreTheProtocolsSteps) {
  struct Case {
    Collective collective;
    CollectiveProtocol protocol;
    uint64_t chunk;
    uint32_t slices;
    uint32_t slots;
  };
  for (const auto& it : {Case{Collective::kAllReduce, CollectiveProtocol::kSimple, 2 * kMib, 2, 4},
                         Case{Collective::kAllGather, CollectiveProtocol::kSimple, 2 * kMib, 2, 4},
                         Case{Collective::kReduceScatter, CollectiveProtocol::kSimple, 2 * kMib, 2, 4},
                         Case{Collective::kBroadcast, CollectiveProtocol::kSimple, 512 * kKib, 1, 8},
                         Case{Collective::kReduce, CollectiveProtocol::kSimple, 512 * kKib, 1, 8},
                         Case{Collective::kAllReduce, CollectiveProtocol::kLl, 32 * kKib, 1, 8},
                         Case{Collective::kAllReduce, CollectiveProtocol::kLl128, 576'000, 1, 8}}) {
    const Cut cut({.collective = it.collective, .protocol = it.protocol, .ranks = 4, .bytes = 64 * kMib});
    EXPECT_EQ(cut.chunk_bytes(64 * kMib), it.chunk);
    EXPECT_EQ(cut.slices(), it.slices);
    EXPECT_EQ(cut.slots(), it.slots);
  }
}

TEST(CollectiveCut, SlicesAreHalvesOfAtLeast32Kibibytes) {
  const Cut cut({.ranks = 4, .bytes = 64 * kMib});
  EXPECT_EQ(cut.slice(2 * kMib, 0).bytes, kMib);
  EXPECT_EQ(cut.slice(2 * kMib, 1).offset, kMib);
  EXPECT_EQ(cut.slice(100'000, 0).bytes, 50'000U);
  EXPECT_EQ(cut.slice(100'008, 0).bytes, 50'016U);  // ⌈100,008 / 32⌉ · 16
  EXPECT_EQ(cut.slice(100'008, 1).bytes, 49'992U);
  EXPECT_EQ(cut.slice(40'000, 0).bytes, 32 * kKib);
  EXPECT_EQ(cut.slice(40'000, 1).bytes, 40'000 - 32 * kKib);
  EXPECT_EQ(cut.slice(32 * kKib, 1).bytes, 0U);
}

TEST(CollectiveCut, AChannelTakesWholeCellsOf32KibibytesOfTraffic) {
  CollectiveShape shape{.ranks = 8, .bytes = 40 * kKib, .channels = 8};
  EXPECT_EQ(Cut(shape).channels(), 3U);  // 16 KiB twice, since each byte goes and comes, and the rest
  EXPECT_EQ(Cut(shape).part(2).offset, 32 * kKib);
  EXPECT_EQ(Cut(shape).part(2).bytes, 8 * kKib);
  shape.protocol = CollectiveProtocol::kLl;
  EXPECT_EQ(Cut(shape).channels(), 5U);  // ten cells of 4 KiB, two a channel
  EXPECT_EQ(Cut(shape).part(0).bytes, 8 * kKib);
  shape.protocol = CollectiveProtocol::kSimple;
  shape.collective = Collective::kAllGather;
  shape.bytes = 8 * 40 * kKib;
  EXPECT_EQ(Cut(shape).block_bytes(), 40 * kKib);
  EXPECT_EQ(Cut(shape).channels(), 5U);  // a byte goes to 8 ranks: ten cells of 4 KiB
  shape.bytes = 7;
  EXPECT_EQ(Cut(shape).channels(), 0U);
}

// log2 16 = 4 hops: 32 chunks of ≥ 128 KiB, 16 of ≥ 64 KiB, 4 of ≥ 32 KiB. LL128: 5.1 · 64 and 5.1 · 16.
TEST(CollectiveCut, ATreeHalvesItsChunksUntilThereAreEnough) {
  CollectiveShape shape{.algorithm = CollectiveAlgorithm::kTree, .ranks = 16, .bytes = 64 * kMib};
  EXPECT_EQ(Cut(shape).chunk_bytes(16 * kMib), 512 * kKib);
  EXPECT_EQ(Cut(shape).chunk_bytes(16 * kMib - 1), 256 * kKib);
  EXPECT_EQ(Cut(shape).chunk_bytes(2 * kMib), 128 * kKib);
  EXPECT_EQ(Cut(shape).chunk_bytes(2 * kMib - 1), 64 * kKib);
  EXPECT_EQ(Cut(shape).chunk_bytes(256 * kKib), 64 * kKib);
  EXPECT_EQ(Cut(shape).chunk_bytes(256 * kKib - 1), 32 * kKib);
  shape.protocol = CollectiveProtocol::kLl;
  EXPECT_EQ(Cut(shape).chunk_bytes(kMib), 32 * kKib);
  shape.protocol = CollectiveProtocol::kLl128;
  EXPECT_EQ(Cut(shape).chunk_bytes(327 * uint64_t{576'000}), 576'000U);
  EXPECT_EQ(Cut(shape).chunk_bytes(326 * uint64_t{576'000}), 288'000U);
  EXPECT_EQ(Cut(shape).chunk_bytes(82 * uint64_t{72'000}), 72'000U);
  EXPECT_EQ(Cut(shape).chunk_bytes(81 * uint64_t{72'000}), 36'000U);
}

// Two servers of eight: 7 hops in the chain and one between servers, so 64 chunks of ≥ 128 KiB.
TEST(CollectiveCut, ATreeOfServersCountsTheirChains) {
  const CollectiveShape shape{
      .algorithm = CollectiveAlgorithm::kTree, .ranks = 16, .per_server = 8, .bytes = 64 * kMib};
  EXPECT_EQ(Cut(shape).chunk_bytes(32 * kMib), 512 * kKib);
  EXPECT_EQ(Cut(shape).chunk_bytes(32 * kMib - 1), 256 * kKib);
}

TEST(CollectiveCut, PairsHaveChunksOf128KibibytesAndSmallerOnesForLess) {
  CollectiveShape shape{
      .collective = Collective::kAllToAll, .algorithm = CollectiveAlgorithm::kDirect, .ranks = 2, .bytes = 2 * kMib};
  EXPECT_EQ(Cut(shape).chunk_bytes(kMib), 128 * kKib);
  shape.bytes -= 2;
  EXPECT_EQ(Cut(shape).chunk_bytes(kMib), 64 * kKib);
  shape.bytes = 256 * kKib;
  EXPECT_EQ(Cut(shape).chunk_bytes(kMib), 64 * kKib);
  shape.bytes -= 2;
  EXPECT_EQ(Cut(shape).chunk_bytes(kMib), 32 * kKib);
  shape.channels = 3;
  EXPECT_EQ(Cut(shape).part(0).bytes, 44 * kKib);  // 32 parts of 4 KiB: 11, 11, 10
  EXPECT_EQ(Cut(shape).part(2).bytes, 128 * kKib - 1 - 88 * kKib);
}

TEST(CollectiveCut, AShapesOwnNumbersComeFirst) {
  const Cut cut({.ranks = 4, .bytes = kMib, .chunk_bytes = 6400, .slices = 4, .slots = 9});
  EXPECT_EQ(cut.chunk_bytes(kMib), 6400U);
  EXPECT_EQ(cut.slices(), 4U);
  EXPECT_EQ(cut.slots(), 9U);
  EXPECT_EQ(cut.slice(6400, 3).offset, 4800U);
  // All ranks of a ring would wait for each other's slots.
  EXPECT_EQ(Cut({.ranks = 4, .bytes = kMib, .slices = 4, .slots = 2}).slots(), 4U);
}

}  // namespace
}  // namespace softspine::control
