// SPDX-License-Identifier: Apache-2.0
// Two rows of uet-htsim's own validation, whose results it ships (validate/*.out): one path a flow, 100 Gb/s, 12 us
// there and back over three tiers, 2 MB a flow. There a flow ends when its sender knows: 6 us after its last bit has
// come.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

constexpr double kHtsimOneFlow = 176.2;
constexpr double kHtsimPermutation = 527.8;
constexpr double kAcknowledgementUs = 6;

// Its perm_16n_16c_2MB: who sends to whom.
constexpr std::array<uint32_t, 16> kTo{8, 4, 13, 10, 12, 15, 0, 9, 14, 7, 5, 3, 11, 6, 2, 1};

std::string permutation() {
  std::string out = "Nodes 16\nConnections 16\n";
  for (size_t i = 0; i < kTo.size(); ++i) out += fmt::format("{}->{} start 0 size 2000000\n", i, kTo[i]);
  return out;
}

// In microseconds, by one of the ways in which ToRs and aggregation switches may hash.
double tail_of(const std::string& matrix, uint32_t hash = 0) {
  const std::string path = testing::TempDir() + "rows.cm";
  std::ofstream(path) << matrix;
  const Outcome out =
      run_text(fmt::format("name: c\nrun: {{duration: 20ms}}\n"
                           "fabric: {{kind: fat-tree, k: 4, host_link: {{rate: 100Gbps, length: 198m}}, "
                           "fabric_link: {{rate: 100Gbps, length: 198m}}}}\n"
                           "profiles: {{t: {{base: lossless, hash: {{offset: {}}}}}, "
                           "a: {{base: lossless, hash: {{offset: {}, algorithm: CRC_CCITT}}}}}}\n"
                           "roles: {{tor: t, aggregation: a, core: lossless}}\n"
                           "traces: [{{name: t, format: htsim, file: {}}}]\n",
                           hash, (5 * hash + 7) % 16, path));
  std::filesystem::remove(path);
  EXPECT_EQ(out.report["traces"]["t"]["ranks_done"], 16);
  return static_cast<double>(number(out.report["traces"]["t"], "ended_ps")) / 1e6 + kAcknowledgementUs;
}

TEST(HtsimRows, OneFlowIsWithinAPercent) {
  EXPECT_NEAR(tail_of("Nodes 16\nConnections 1\n0->13 start 0 size 2000000\n") / kHtsimOneFlow, 1, 0.01);
}

// The tail is the fullest link's. The hash decides which flows meet there, so its median counts.
TEST(HtsimRows, APermutationOfSixteenIsWithinFivePercentInTheMedian) {
  std::vector<double> tails;
  for (uint32_t hash = 0; hash < 16; ++hash) tails.push_back(tail_of(permutation(), hash));
  std::ranges::sort(tails);
  EXPECT_NEAR(tails[8] / kHtsimPermutation, 1, 0.05) << tails[8];
  EXPECT_LT(tails.front(), tails.back());
}

}  // namespace
}  // namespace softspine::testbeds
