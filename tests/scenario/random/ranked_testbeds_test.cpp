// SPDX-License-Identifier: Apache-2.0
// Random testbeds over ranks: report, events, counters and flows over time, capture, recording, steps, traces and
// ns-3's files are those of one process, to the byte.
//
// Testbed i is drawn from the seed SOFTSPINE_SEED + i. SOFTSPINE_TESTBEDS says how many; one alone:
//   SOFTSPINE_SEED=… SOFTSPINE_TESTBEDS=1 build/tests/scenario/scenario_random --gtest_filter='RankedTestbeds.*'
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include "control/telemetry/json.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/random/drawn_files.hpp"
#include "tests/scenario/random/drawn_testbed.hpp"
#include "tests/scenario/random/edge_files.hpp"
#include "tests/scenario/random/random_bonds.hpp"
#include "tests/scenario/random/random_edges.hpp"
#include "tests/scenario/random/random_fabric.hpp"
#include "tests/scenario/random/random_testbed.hpp"
#include "tests/scenario/random/run_variants.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;

constexpr uint32_t kRankedInCi = 12;
constexpr uint32_t kBondsOverRanks = 3;
constexpr dataplane::Duration kInterval = dataplane::Duration::us(50);

// Returns whether it could be run.
bool is_alike_over_ranks(const std::string& text, uint64_t seed) {
  Variant variant{.captures = seed % 2 == 0,
                  .logs_events = true,
                  .samples = kInterval,
                  .records = seed % 3 != 1,
                  .records_steps = seed % 4 != 2,
                  .writes_ns3 = seed % 5 != 3,
                  .traces = seed % 4 != 1,
                  .poisons = true};
  variant.ranks = 2 + static_cast<uint32_t>(seed % 3);
  variant.workers = 1 + static_cast<uint32_t>(seed / 3 % 2);
  const VariantOutcome over_ranks = run_variant(text, variant);
  if (!over_ranks.refused.empty()) return false;
  Variant alone = variant;
  alone.ranks = alone.workers = 1;
  const std::string differs = difference(over_ranks, run_variant(text, alone));
  EXPECT_EQ(differs, "") << variant.text();
  return true;
}

template <typename Draw>
void try_all(Draw&& draw, uint32_t usual = kRankedInCi) {
  dataplane::start_eal({});
  uint32_t ran = 0;
  for (uint64_t i = 0, n = tests::to_draw(usual); i < n; ++i) {
    const uint64_t seed = tests::seed() + i;
    const std::string text = draw(seed);
    ran += is_alike_over_ranks(text, seed) ? 1 : 0;
    if (testing::Test::HasFailure()) {
      FAIL() << "again: SOFTSPINE_SEED=" << seed << " SOFTSPINE_TESTBEDS=1\n" << text;
    }
  }
  EXPECT_GT(ran, 0U);
  testing::Test::RecordProperty("ran", static_cast<int>(ran));
}

TEST(RankedTestbeds, AreTheSameBytesAsInOneProcess) {
  try_all([](uint64_t seed) { return tests::random_testbed(seed).text; });
}

TEST(RankedTestbeds, AreTheSameBytesInFabricsOfEveryKind) {
  try_all([](uint64_t seed) { return tests::random_fabric(seed); });
}

TEST(RankedTestbeds, AreTheSameBytesWithWhateverTheFormatHas) {
  try_all([](uint64_t seed) { return tests::drawn_testbed(seed).text; });
}

// Captures stand for some hosts, on whichever rank.
TEST(RankedTestbeds, AreTheSameBytesWithFilesAsHosts) {
  try_all([](uint64_t seed) { return tests::random_edges(seed); });
}

// Two racks, and in each a host for which captures stand, of some links. All of them are paused.
std::string hosts_of_files(size_t links, const std::string& input) {
  Json out = Json::parse(R"({"name": "wide", "run": {"duration": "120us", "seed": 3},
    "profiles": {"default": {"base": "sonic-tomahawk-100g-40m",
                             "BUFFER_PROFILE": {"pg_lossless_100000_40m_profile": {"dynamic_th": -7}}}}})");
  Json nodes;
  Json cables;
  const auto join = [&cables](const std::string& a, const std::string& b) {
    cables.push_back({{"endpoints", {a, b}}, {"rate", "100Gbps"}, {"length", "40m"}});
  };
  nodes["spine"] = {{"kind", "switch"}, {"role", "aggregation"}};
  uint32_t written = 0;
  for (const auto& [tor, host, sender] : {std::array{"tor0", "a", "c"}, {"tor1", "b", "d"}}) {
    nodes[tor] = {{"kind", "switch"}, {"role", "tor"}};
    nodes[host] = {{"kind", "host"}};
    nodes[sender] = {{"kind", "host"}};
    join(tor, "spine");
    join(tor, sender);
    for (size_t i = 0; i < links; ++i) {
      join(tor, host);
      const std::string output = fmt::format("{}{}.pcap", kEdgeOutput, written);
      const std::string offset = fmt::format("{}us", 1 + 3 * written++);
      nodes[host]["edge"].push_back({{"pcap", {{"in", input}, {"out", output}, {"offset", offset}}}});
    }
  }
  out["topology"] = {{"nodes", std::move(nodes)}, {"links", std::move(cables)}};
  out["workload"] = Json::parse(R"([{"name": "w", "pattern": "all_to_all", "hosts": ["c", "d"], "message": "64KiB",
                                     "messages": 9, "rate": "90Gbps", "dscp": 3}])");
  return out.dump();
}

// Further links of such a host are listed behind the first ones of all, host by host. Built-in hosts, whose frames the
// captures have, may have no three links.
TEST(RankedTestbeds, AreTheSameBytesWithFilesAsHostsOfThreeLinks) {
  constexpr const char* kInput = "wide-in.pcapng";
  dataplane::start_eal({});
  ASSERT_TRUE(put_edge_input(hosts_of_files(1, kEdgeInput)));
  std::filesystem::rename(tests::folder_of_drawn() / kEdgeInput, tests::folder_of_drawn() / kInput);
  for (uint64_t seed = 0; seed < 3; ++seed) EXPECT_TRUE(is_alike_over_ranks(hosts_of_files(3, kInput), seed));
}

// Of 60 ms each, in which LACP finds out what has failed.
TEST(RankedTestbeds, AreTheSameBytesWithBonds) {
  try_all([](uint64_t seed) { return tests::random_bonds(seed); }, kBondsOverRanks);
}

}  // namespace
}  // namespace softspine::testbeds
