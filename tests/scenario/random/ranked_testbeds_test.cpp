// SPDX-License-Identifier: Apache-2.0
// Random testbeds over ranks: report, events, counters and flows over time, capture, recording, steps, traces and
// ns-3's files are those of one process, to the byte.
//
// Testbed i is drawn from the seed SOFTSPINE_SEED + i. SOFTSPINE_TESTBEDS says how many; one alone:
//   SOFTSPINE_SEED=… SOFTSPINE_TESTBEDS=1 build/tests/scenario/scenario_random --gtest_filter='RankedTestbeds.*'
#include <gtest/gtest.h>

#include <array>

#include "dataplane/dpdk/eal.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/random/drawn_testbed.hpp"
#include "tests/scenario/random/random_bonds.hpp"
#include "tests/scenario/random/random_edges.hpp"
#include "tests/scenario/random/random_fabric.hpp"
#include "tests/scenario/random/random_testbed.hpp"
#include "tests/scenario/random/run_variants.hpp"

namespace softspine::testbeds {
namespace {

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

// Of 60 ms each, in which LACP finds out what has failed.
TEST(RankedTestbeds, AreTheSameBytesWithBonds) {
  try_all([](uint64_t seed) { return tests::random_bonds(seed); }, kBondsOverRanks);
}

}  // namespace
}  // namespace softspine::testbeds
