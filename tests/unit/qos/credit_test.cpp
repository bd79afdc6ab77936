// SPDX-License-Identifier: Apache-2.0
// Links that go by credit: which profiles can promise room, and what a port's plan then says.
#include <gtest/gtest.h>

#include "control/compile/headroom_check.hpp"
#include "tests/unit/qos/plans.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::plan_of;
using tests::read_well;

// The links of the fabric by credit, those of the hosts by PFC.
constexpr std::string_view kFabric =
    "name: small\n"
    "fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2,\n"
    "  host_link: {rate: 100Gbps, length: 5m}, fabric_link: {rate: 400Gbps, length: 40m, flow_control: credit}}\n"
    "roles: {tor: tor, aggregation: lossless}\n";

std::string with(std::string_view tables) {
  return std::string(kFabric) + "profiles: {tor: {base: lossless" + std::string(tables) + "}}\n";
}
std::string said(std::string_view what) {
  return "5 profiles.tor: flow_control: credit: " + std::string(what);
}

TEST(Credit, IsOfThePrioritiesThatPfcWouldPauseOnThoseLinksOnly) {
  const auto planned = plan_of(with(""));
  const auto& host_port = planned.plan->ports.at(0);
  EXPECT_EQ(host_port.pfc_enabled, 0b11000);
  EXPECT_EQ(host_port.credit_enabled, 0);
  const auto& uplink = planned.plan->ports.at(2);
  EXPECT_EQ(uplink.pfc_enabled, 0);
  EXPECT_EQ(uplink.credit_enabled, 0b11000);
  EXPECT_EQ(uplink.link.flow_control, dataplane::LinkMode::kCredit);
  EXPECT_EQ(host_port.link.flow_control, dataplane::LinkMode::kPfc);
  EXPECT_EQ(uplink.largest_frame, 9'118u);
  EXPECT_FALSE(planned.group(0, 3).credited);
  EXPECT_TRUE(planned.group(2, 3).credited);
  EXPECT_FALSE(planned.group(2, 0).credited);
}

TEST(Credit, PromisesOnlyWhatAGroupHasForItselfAndAFrameFitsInto) {
  const auto with_xoff = [](uint64_t bytes) {
    return with(", BUFFER_PROFILE: {pg_lossless_auto_profile: {xoff: " + std::to_string(bytes) + "B}}");
  };
  EXPECT_EQ(complaints_about(with_xoff(9'118)), Complaints{});
  EXPECT_EQ(
      complaints_about(with_xoff(9'117)),
      (Complaints{said("priority group 3 of tor1:Ethernet8 has 9117 bytes of headroom, less than a frame of 9118")}));
  EXPECT_EQ(complaints_about(with(", BUFFER_POOL: {ingress_lossless_pool: {xoff: 1MiB}}, "
                                  "BUFFER_PROFILE: {pg_lossless_auto_profile: {xoff: 80KiB}}")),
            (Complaints{said("priority group 3 of tor1:Ethernet8 shares its headroom: what is promised must be its "
                             "alone")}));
  EXPECT_EQ(complaints_about(with(", BUFFER_PG: {3: {profile: ingress_lossy_profile}}")),
            (Complaints{said("priority group 3 of tor1:Ethernet8 has no headroom (xoff) to promise")}));
}

// What SONiC calculates for NULL on a Spectrum is shared where `over_subscribe_ratio` says so.
TEST(Credit, PromisesNothingOfCalculatedHeadroomThatIsShared) {
  const auto with_ratio = [](const std::string& ratio) {
    std::string text = with(
        ", BUFFER_PG: {3-4: {profile: \"NULL\"}}, DEFAULT_LOSSLESS_BUFFER_PARAMETER: {AZURE: "
        "{over_subscribe_ratio: " +
        ratio + "}}");
    const std::string_view base = "base: lossless";
    return text.replace(text.rfind(base), base.size(), "base: sonic-sn4700-100g-5m");
  };
  EXPECT_EQ(complaints_about(with_ratio("0")), Complaints{});
  EXPECT_EQ(complaints_about(with_ratio("2")),
            (Complaints{said("priority group 3 of tor1:Ethernet8 shares its headroom: what is promised must be its "
                             "alone")}));
}

TEST(Credit, NeedsAGroupForEachPriority) {
  EXPECT_EQ(complaints_about(with(", PFC_PRIORITY_TO_PRIORITY_GROUP_MAP: {AZURE: {3: 3, 4: 3}}")),
            (Complaints{said("priority group 3 of tor1:Ethernet8 has 2 lossless priorities; each needs a group of its "
                             "own")}));
  EXPECT_EQ(complaints_about(with(", PORT_QOS_MAP: {global: {pfc_enable: [2, 3, 4]}}")),
            (Complaints{said("priority 2 of tor1:Ethernet8 is in pfc_enable, but in no priority group: there is no "
                             "room to promise")}));
}

TEST(Credit, IsForSwitchesAndBuiltInHosts) {
  EXPECT_EQ(complaints_about("name: small\n"
                             "fabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 2,\n"
                             "  host_link: {rate: 100Gbps, flow_control: credit}, fabric_link: {rate: 400Gbps}}\n"
                             "roles: {tor: lossless, aggregation: lossless}\n"
                             "topology: {nodes: {h2: {edge: {pcap: {in: x}}}}}\n"),
            (Complaints{"5 topology.nodes.h2: stands on a link with flow_control: credit; only switches and built-in "
                        "hosts can"}));
}

TEST(Credit, OfSingleLinksOnceMore) {
  const std::string text =
      "name: line\n"
      "topology:\n"
      "  nodes: {s1: {kind: switch, role: tor}, s2: {kind: switch, role: tor}, h1: {kind: host}, h2: {kind: host}}\n"
      "  links:\n"
      "    - {endpoints: [\"s1:Ethernet0\", \"h1:eth0\"], rate: 100Gbps}\n"
      "    - {endpoints: [\"s2:Ethernet0\", \"h2:eth0\"], rate: 100Gbps}\n"
      "    - {endpoints: [\"s1:Ethernet4\", \"s2:Ethernet4\"], rate: 100Gbps, flow_control: WAY}\n"
      "roles: {tor: lossless}\n";
  const auto by = [&](const std::string& way) {
    std::string out = text;
    return out.replace(out.find("WAY"), 3, way);
  };
  const auto planned = plan_of(by("credit"), "s1");
  EXPECT_EQ(planned.plan->ports.at(0).credit_enabled, 0);
  EXPECT_EQ(planned.plan->ports.at(1).credit_enabled, 0b11000);
  EXPECT_EQ(plan_of(by("pfc"), "s1").plan->ports.at(1).credit_enabled, 0);
  const Complaints complaints = complaints_about(by("credits"));
  ASSERT_EQ(complaints.size(), 1u);
  EXPECT_TRUE(complaints[0].starts_with("7 topology.links[2].flow_control: ")) << complaints[0];
}

// Nobody has to react in time: the formula of PFC's headroom is not asked.
TEST(Credit, HeadroomIsNotJudgedByPfcsFormula) {
  EXPECT_EQ(check_headroom(read_well(with(""))).judged, 2u * 2 * 2) << "two ToRs, two hosts each, two groups";
  const std::string small = ", BUFFER_PROFILE: {pg_lossless_auto_profile: {xoff: 60KiB}}";
  for (const ShortHeadroom& port : check_headroom(read_well(with(small))).too_little) {
    EXPECT_EQ(port.rate, dataplane::Rate::gbps(100)) << "a host's";
  }
}

}  // namespace
}  // namespace softspine::control
