// SPDX-License-Identifier: Apache-2.0
// The picture of polarization where links are too many for bars.
#include <gtest/gtest.h>

#include <string>

#include "analysis/explain/polarization_picture.hpp"
#include "control/load/load.hpp"
#include "testbeds/run/workload_flows.hpp"

namespace softspine::analysis {
namespace {

size_t parts_that_say(const std::string& svg, const std::string& words) {
  size_t out = 0;
  for (size_t at = svg.find(words); at != std::string::npos; at = svg.find(words, at + 1)) ++out;
  return out;
}

// 128 ToRs of 8 links; each aggregation switch uses one link of 8, since it hashes as they do.
TEST(DensePicture, HasAColumnForEachSwitch) {
  const auto testbed = control::parse_testbed(
      "name: large\nfabric: {kind: fat-tree, k: 16, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n"
      "workload: [{name: w, pattern: permutation, message: 4KiB, qps: 32, source_port: per_qp}]\n",
      "test.yaml");
  ASSERT_TRUE(testbed);
  Walker walker{*testbed, std::vector<bool>(testbed->fabric.links.size(), true)};
  const Polarization found = polarization_of(walker, testbeds::workload_flows(walker));
  const std::string svg = polarization_picture(testbed->fabric, found);
  EXPECT_EQ(found.tiers[0].links, 1'024U);
  EXPECT_EQ(parts_that_say(svg, "each column: the links of a switch, those"), 2U);
  EXPECT_EQ(parts_that_say(svg, "p3-agg5: 8 links, 7 without a flow, the fullest has 8.0 times its share"), 2U)
      << "the idle ones, and that link";
  EXPECT_EQ(parts_that_say(svg, " links, 0 without a flow"), 128U * 8) << "each link of a ToR is a part of its column";
  EXPECT_EQ(parts_that_say(svg, "where an ideal hash has 19 of 20 links"), 0U) << "there is no band";
  EXPECT_LT(svg.size(), 500'000U);
}

}  // namespace
}  // namespace softspine::analysis
