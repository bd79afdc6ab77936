// SPDX-License-Identifier: Apache-2.0
// What the review says before a run, held against the run: a DSCP that it calls lossless loses nothing where eight
// times too much comes in, and every other one does; a workload that names none loses nothing.
#include <algorithm>
#include <map>

#include "control/compile/review.hpp"
#include "tests/harness/source_root.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

std::string trap_incast(const std::string& profiles, const std::string& key) {
  return "name: trap\nrun: {duration: 3ms, seed: 1}\n"
         "fabric: {kind: leaf-spine, tors: 3, spines: 2, hosts_per_tor: 4, host_link: {rate: 100Gbps, length: 3m},\n"
         "  fabric_link: {rate: 100Gbps, length: 40m}}\n" +
         profiles +
         "workload: [{name: w, pattern: incast, from: [h5, h6, h7, h8, h9, h10, h11, h12], to: h1, message: 1MiB,\n"
         "  messages: 3, mtu: 4096" +
         key + "}]\n";
}

// A pool that the incast overflows.
const char* const kSmall =
    "profiles: {default: {base: lossless, BUFFER_POOL: {ingress_lossless_pool: {size: 2MiB}, egress_lossy_pool: {size: "
    "2MiB}}}}\n";
const char* const kLossySpines =
    "profiles: {tor: {base: lossless, BUFFER_POOL: {ingress_lossless_pool: {size: 2MiB}}}}\nroles: {tor: tor}\n";

bool is_called_lossless(const control::Testbed& testbed) {
  const auto links = control::review(testbed).workloads.at(0).links;
  return std::ranges::all_of(links, [](const auto& link) { return link.service.loss == control::Loss::kNothing; });
}

uint64_t dropped(const control::Testbed& testbed) {
  return run_whole(testbed).report["totals"]["dropped_packets"].get<uint64_t>();
}

TEST(LosslessTrap, AWorkloadThatNamesNoDscpLosesNothingInALosslessFabric) {
  const control::Testbed testbed = testbed_of(trap_incast(kSmall, ""));
  EXPECT_TRUE(is_called_lossless(testbed));
  EXPECT_EQ(dropped(testbed), 0U);
}

TEST(LosslessTrap, WhatTheReviewCallsLosslessIsAndWhatItDoesNotIsNot) {
  for (const char* profiles : {kSmall, kLossySpines, ""}) {
    for (const char* key : {", dscp: 0", ", dscp: 3", ", dscp: 4", ", dscp: 26"}) {
      const control::Testbed testbed = testbed_of(trap_incast(profiles, key));
      EXPECT_EQ(dropped(testbed) == 0, is_called_lossless(testbed)) << profiles << key;
    }
  }
}

// What a shipped testbed warns of is its point, and stands in it.
TEST(LosslessTrap, ShippedTestbedsHaveNoWarningsButThoseTheyAreAbout) {
  const std::map<std::string, size_t> meant{{"headroom", 2}, {"wred-before-pfc", 1}};
  size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(tests::source_root() / "testbeds")) {
    if (file.path().extension() != ".yaml") continue;
    ++files;
    const auto testbed = control::load_testbed(file.path());
    ASSERT_TRUE(testbed) << to_string(testbed.error().front());
    const control::Review found = control::review(*testbed);
    EXPECT_TRUE(found.errors.empty()) << file.path();
    const auto expected = meant.find(file.path().stem());
    EXPECT_EQ(found.warnings.size(), expected == meant.end() ? 0 : expected->second) << file.path();
    for (const auto& warning : found.warnings) {
      EXPECT_TRUE(expected != meant.end()) << to_string(warning);
    }
  }
  EXPECT_GE(files, 25U);
}

}  // namespace
}  // namespace softspine::testbeds
