// SPDX-License-Identifier: Apache-2.0
// Planes that are apart, and links that join them.
#include "control/routing/plane_leaks.hpp"

#include <gtest/gtest.h>

#include <string>

#include "control/load/load.hpp"

namespace softspine::control {
namespace {

std::string hpn(uint32_t planes, const std::string& more = "") {
  return "name: t\nfabric: {kind: hpn, segments: 2, servers_per_segment: 1, rails: 1, planes: " +
         std::to_string(planes) +
         ", aggregations_per_plane: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n" + more;
}

std::string with_link(const std::string& a, const std::string& b) {
  return hpn(2, "topology: {links: [{endpoints: [" + a + ", " + b + "], rate: 100Gbps}]}\n");
}

std::string leak_of(const std::string& text, bool meet_in_core = false) {
  const auto testbed = parse_testbed(text, "t.yaml");
  if (!testbed) return to_string(testbed.error().front());
  const auto way = find_plane_leak(testbed->fabric, meet_in_core);
  std::string out;
  for (const uint32_t node : way.value_or(std::vector<uint32_t>{})) {
    out += (out.empty() ? "" : " ") + testbed->fabric.nodes[node].name;
  }
  return out;
}

TEST(PlaneLeaks, PlanesThatAreApartHaveNone) {
  EXPECT_EQ(leak_of(hpn(2)), "");
  EXPECT_EQ(leak_of(hpn(1)), "") << "one plane cannot leak";
}

TEST(PlaneLeaks, AWayUpAndDownIsOne) {
  EXPECT_EQ(leak_of(with_link("s1-r1-tor1", "p2-agg1")), "s1-r1-tor1 p2-agg1 s1-r1-tor2");
  EXPECT_EQ(leak_of(with_link("s1-r1-tor1", "s1-r1-tor2")), "s1-r1-tor1 s1-r1-tor2");
  EXPECT_EQ(leak_of(with_link("p1-agg2", "p2-agg1")), "s1-r1-tor1 p1-agg2 p2-agg1 s1-r1-tor2");
}

TEST(PlaneLeaks, AWayThroughACoreIsNoneWherePlanesMayMeetThere) {
  const std::string core = hpn(2,
                               "topology: {nodes: {c: {kind: switch, role: core}}, links: [{endpoints: [p1-agg1, c], "
                               "rate: 100Gbps}, {endpoints: [p2-agg2, c], rate: 100Gbps}]}\n");
  EXPECT_EQ(leak_of(core), "s1-r1-tor1 p1-agg1 c p2-agg2 s1-r1-tor2");
  EXPECT_EQ(leak_of(core, true), "");
}

// Routes never go up again, so a ToR that both planes have joins nothing.
TEST(PlaneLeaks, AWayThatGoesUpAgainIsNone) {
  const std::string valley =
      hpn(2,
          "topology: {nodes: {t: {kind: switch, role: tor}, h: {kind: host}}, links: [{endpoints: "
          "[h, t], rate: 100Gbps}, {endpoints: [p1-agg1, t], rate: 100Gbps}, {endpoints: "
          "[p2-agg1, t], rate: 100Gbps}]}\n");
  EXPECT_EQ(leak_of(valley), "");
}

TEST(PlaneLeaks, CheckWarnsOfThem) {
  const auto testbed = parse_testbed(with_link("p1-agg2", "p2-agg1"), "t.yaml");
  ASSERT_TRUE(testbed);
  ASSERT_EQ(testbed->warnings.size(), 1U);
  EXPECT_EQ(testbed->warnings[0].message,
            "planes leak: what leaves a NIC on plane 1 may arrive on plane 2, by s1-r1-tor1 → p1-agg2 → p2-agg1 → "
            "s1-r1-tor2");
}

}  // namespace
}  // namespace softspine::control
