// SPDX-License-Identifier: Apache-2.0
// NCCL's choices as they were computed from its sources by hand, for servers of 8 GPUs and 8 NICs, 8 channels of
// 45 GB/s, Intel hosts, without NVLS.
#include "control/collectives/choice.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "control/collectives/collective_algorithms.hpp"

namespace softspine::control {
namespace {

constexpr uint64_t kKibibyte = 1U << 10U;
constexpr uint64_t kMebibyte = 1U << 20U;

std::string chosen(uint32_t ranks, uint32_t servers, uint64_t bytes, uint32_t channels = 8) {
  const CollectiveShape shape{
      .algorithm = CollectiveAlgorithm::kAuto, .protocol = CollectiveProtocol::kAuto, .ranks = ranks, .bytes = bytes};
  const auto choice = choose(shape, {.servers = servers, .channels = channels});
  return std::string(algorithm_row(choice.algorithm)->word) + "/" +
         std::string(kProtocolWords[static_cast<size_t>(choice.protocol) - 1].word);
}

struct Until {
  std::string choice;
  uint64_t bytes;
};

void expect_choices(uint32_t ranks, uint32_t servers, const std::vector<Until>& choices, uint32_t channels = 8) {
  uint64_t bytes = 8;
  for (const auto& [choice, last] : choices) {
    for (; bytes <= last; bytes *= 2)
      EXPECT_EQ(chosen(ranks, servers, bytes, channels), choice) << servers << " servers, " << bytes;
  }
}

TEST(CollectiveChoice, IsNcclsOnTwoSixteenAndManyServers) {
  expect_choices(16, 2,
                 {{"tree/ll", 128 * kKibibyte},
                  {"tree/ll128", 16 * kMebibyte},
                  {"ring/ll128", 64 * kMebibyte},
                  {"ring/simple", 8192 * kMebibyte}});
  expect_choices(128, 16,
                 {{"tree/ll", 128 * kKibibyte},
                  {"tree/ll128", 64 * kMebibyte},
                  {"tree/simple", 512 * kMebibyte},
                  {"ring/simple", 8192 * kMebibyte}});
  for (uint64_t bytes = 8; bytes < 8192 * kMebibyte; bytes *= 2)
    EXPECT_EQ(chosen(1024, 128, bytes).substr(0, 4), "tree") << bytes;
}

TEST(CollectiveChoice, IsNcclsOnServersOfOneGpu) {
  expect_choices(8, 8,
                 {{"tree/ll", 64 * kKibibyte},
                  {"tree/ll128", 256 * kKibibyte},
                  {"ring/ll", kMebibyte},
                  {"ring/ll128", 16 * kMebibyte},
                  {"ring/simple", 1024 * kMebibyte}},
                 1);
}

TEST(CollectiveChoice, KeepsWhatIsNamed) {
  CollectiveShape shape{.algorithm = CollectiveAlgorithm::kRing,
                        .protocol = CollectiveProtocol::kAuto,
                        .ranks = 1024,
                        .bytes = kMebibyte};
  const NcclCluster cluster{.servers = 128, .channels = 8};
  EXPECT_EQ(choose(shape, cluster).algorithm, CollectiveAlgorithm::kRing);
  EXPECT_EQ(choose(shape, cluster).protocol, CollectiveProtocol::kLl);
  shape.algorithm = CollectiveAlgorithm::kAuto;
  shape.protocol = CollectiveProtocol::kSimple;
  EXPECT_EQ(choose(shape, cluster).protocol, CollectiveProtocol::kSimple);
  EXPECT_EQ(choose(shape, cluster).algorithm, CollectiveAlgorithm::kTree);
}

TEST(CollectiveChoice, OfWhatHasOneAlgorithmIsThatOne) {
  CollectiveShape shape{.collective = Collective::kAllToAll,
                        .algorithm = CollectiveAlgorithm::kAuto,
                        .protocol = CollectiveProtocol::kAuto,
                        .ranks = 8,
                        .bytes = 8 * 16 * kKibibyte};
  EXPECT_EQ(choose(shape, {}).algorithm, CollectiveAlgorithm::kDirect);
  EXPECT_EQ(choose(shape, {}).protocol, CollectiveProtocol::kLl);
  shape.bytes *= 2;
  EXPECT_EQ(choose(shape, {}).protocol, CollectiveProtocol::kSimple);
  shape.collective = Collective::kBroadcast;
  EXPECT_EQ(choose(shape, {}).algorithm, CollectiveAlgorithm::kRing);
  shape.algorithm = CollectiveAlgorithm::kHalvingDoubling;
  EXPECT_EQ(choose(shape, {}).protocol, CollectiveProtocol::kSimple);
}

// Ring with Simple, 16 ranks on 2 servers: 1.4 · (8.4 + 28 · 3.4 + 2 · 14) + 1 GiB / (360 / 1.875 GB/s).
TEST(CollectiveChoice, TimesFollowTheFormula) {
  const CollectiveShape shape{.ranks = 16, .bytes = 1024 * kMebibyte};
  EXPECT_NEAR(expected_us(shape, {.servers = 2, .channels = 8}), 184.24 + 1073741.824 / 192, 1e-6);
}

// The last of the 23 factors, 0.9, is for 256 MiB up to 512 MiB; from there on there is none.
TEST(CollectiveChoice, CorrectsTheTreesBandwidthBelow512MiB) {
  const auto us = [](uint64_t bytes) {
    return expected_us({.algorithm = CollectiveAlgorithm::kTree, .ranks = 128, .bytes = bytes},
                       {.servers = 16, .channels = 8});
  };
  const double latency = us(0);
  const auto us_per_byte = [&](uint64_t bytes) { return (us(bytes) - latency) / static_cast<double>(bytes); };
  const double uncorrected = us_per_byte(1024 * kMebibyte);
  const auto expect = [&](uint64_t bytes, double factor) {
    EXPECT_NEAR(us_per_byte(bytes) / uncorrected, 1 / factor, 1e-6) << bytes;
  };
  expect(512 * kMebibyte, 1);
  expect(512 * kMebibyte - 1, 0.9);
  expect(64, 0.9);
  expect(63, 1);
}

}  // namespace
}  // namespace softspine::control
