// SPDX-License-Identifier: Apache-2.0
// Random testbeds on one, two and three workers: reports and captures to the byte, and what holds of every run.
//
// Testbed i is drawn from the seed SOFTSPINE_SEED + i. SOFTSPINE_TESTBEDS says how many; one alone:
//   SOFTSPINE_SEED=… SOFTSPINE_TESTBEDS=1 build/tests/scenario/scenario_random

#include "control/telemetry/totals.hpp"
#include "testbeds/run/packet_need.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/random/random_fabric.hpp"
#include "tests/scenario/random/random_testbed.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using tests::RandomTestbed;

constexpr uint32_t kInCi = 120;
constexpr uint32_t kKindsInCi = 40;
constexpr uint64_t kCaptureEvery = 3;  // comparing captures costs as much as two runs

// The first line that differs, with its neighbour above.
std::string difference(const std::string& a, const std::string& b) {
  const auto at = static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  const size_t from = a.rfind('\n', a.rfind('\n', at) - 1);
  return a.substr(from, at + 60 - from) + "\n  instead of" + b.substr(from, at + 60 - from);
}

void expect_lossless(const Outcome& out) {
  EXPECT_EQ(out.report["totals"]["drops"]["headroom_full"], 0u) << "headroom by formula is enough";
}

void try_one(uint64_t seed, const RandomTestbed& drawn) {
  const bool captures = seed % kCaptureEvery == 0;
  const control::Testbed testbed = testbed_of(drawn.text);
  if (testing::Test::HasFailure()) return;
  const Outcome one = run_text(drawn.text, {.workers = 1}, captures);
  if (drawn.keeps_lossless) expect_lossless(one);
  EXPECT_LE(one.most_packets, packet_need(testbed).packets) << "what check says";
  const std::string report = without_engine(one.report);
  for (const uint32_t workers : {2U, 3U}) {
    const Outcome other = run_text(drawn.text, {.workers = workers}, captures);
    EXPECT_TRUE(other.capture == one.capture) << workers << " workers: another capture";
    const std::string again = without_engine(other.report);
    if (again != report) ADD_FAILURE() << workers << " workers:" << difference(again, report);
  }
}

TEST(RandomTestbeds, AreTheSameBytesOnAnyNumberOfWorkers) {
  for (uint64_t i = 0, n = tests::to_draw(kInCi); i < n; ++i) {
    const uint64_t seed = tests::seed() + i;
    const RandomTestbed drawn = tests::random_testbed(seed);
    try_one(seed, drawn);
    if (!HasFailure()) continue;
    FAIL() << "again: SOFTSPINE_SEED=" << seed << " SOFTSPINE_TESTBEDS=1\n" << drawn.text;
  }
}

TEST(RandomTestbeds, AreTheSameBytesInFabricsOfEveryKind) {
  for (uint64_t i = 0, n = tests::to_draw(kKindsInCi); i < n; ++i) {
    const uint64_t seed = tests::seed() + i;
    const RandomTestbed drawn{.text = tests::random_fabric(seed), .keeps_lossless = false};
    try_one(seed, drawn);
    if (!HasFailure()) continue;
    FAIL() << "again: SOFTSPINE_SEED=" << seed << " SOFTSPINE_TESTBEDS=1\n" << drawn.text;
  }
}

}  // namespace
}  // namespace softspine::testbeds
