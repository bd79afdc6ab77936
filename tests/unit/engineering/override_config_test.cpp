// SPDX-License-Identifier: Apache-2.0
// Overrides and the controller in a testbed file: what they become, and what is refused.
#include <gtest/gtest.h>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::read_well;

// tor1 has h1, h2 at Ethernet0, 4 and spine1, spine2 at Ethernet8, 12; tor2 has h3, h4. Lines 1 to 3.
std::string with(const std::string& rest) {
  return "name: small\n"
         "fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2,\n"
         "  host_link: {rate: 100Gbps}, fabric_link: {rate: 400Gbps}}\n" +
         rest;
}
std::string override_of(const std::string& keys) {
  return with("overrides:\n  - {" + keys + "}\n");
}

std::vector<std::string> words_of(const Testbed& testbed) {
  std::vector<std::string> out;
  for (const Override& each : testbed.overrides) {
    const auto& ports = testbed.fabric.nodes[each.node].ports;
    out.push_back(testbed.fabric.nodes[each.node].name + " " + ports[each.in_port].name + " " +
                  std::visit([](const auto& to) { return to_string(to); }, each.to) + " " + ports[each.out_port].name);
  }
  return out;
}
using Words = std::vector<std::string>;

TEST(OverrideConfig, NamesPortsOrWhatIsBehindThem) {
  const Words same{"tor1 Ethernet0 10.0.2.2/32 Ethernet12", "tor1 Ethernet0 fd00:0:0:2::2/128 Ethernet12"};
  EXPECT_EQ(words_of(read_well(override_of("at: tor1, from: h1, to: h3, via: spine2"))), same);
  EXPECT_EQ(words_of(read_well(override_of("at: tor1, from: Ethernet0, to: h3, via: Ethernet12"))), same);
  EXPECT_EQ(words_of(read_well(override_of("at: tor1, from: h1, to: 10.0.2.0/24, via: spine1"))),
            Words{"tor1 Ethernet0 10.0.2.0/24 Ethernet8"});
  EXPECT_EQ(words_of(read_well(override_of("at: tor1, from: h1..h2, to: tor2, via: spine1"))),
            (Words{"tor1 Ethernet0 10.0.2.0/24 Ethernet8", "tor1 Ethernet0 fd00:0:0:2::/64 Ethernet8",
                   "tor1 Ethernet4 10.0.2.0/24 Ethernet8", "tor1 Ethernet4 fd00:0:0:2::/64 Ethernet8"}));
}

TEST(OverrideConfig, WithoutFromItIsEveryPortButTheOneThatItLeavesBy) {
  EXPECT_EQ(words_of(read_well(override_of("at: tor1, to: 10.0.2.0/24, via: spine1"))),
            (Words{"tor1 Ethernet0 10.0.2.0/24 Ethernet8", "tor1 Ethernet4 10.0.2.0/24 Ethernet8",
                   "tor1 Ethernet12 10.0.2.0/24 Ethernet8"}));
}

TEST(OverrideConfig, RefusesWhatIsNotThere) {
  EXPECT_EQ(complaints_about(override_of("at: tor9, to: h3, via: spine1")),
            Complaints{"5 overrides[0].at: there is no node 'tor9': did you mean 'tor1'?"});
  EXPECT_EQ(complaints_about(override_of("at: tor1, from: Ethernet99, to: h3, via: spine1")).size(), 1u);
  EXPECT_EQ(complaints_about(override_of("at: tor1, from: h3, to: h3, via: spine1")),
            Complaints{"5 overrides[0].from: tor1 has no link to h3"});
  EXPECT_EQ(complaints_about(override_of("at: tor1, to: h3, via: tor2")),
            Complaints{"5 overrides[0].via: tor1 has no link to tor2"});
  EXPECT_EQ(complaints_about(override_of("at: h1, to: h3, via: tor1")),
            Complaints{"5 overrides[0].at: h1 is no switch"});
  EXPECT_EQ(complaints_about(override_of("at: tor1, to: 10.9.0.0/16, via: spine1")),
            Complaints{"5 overrides[0].to: no host has an address in 10.9.0.0/16"});
  EXPECT_EQ(complaints_about(override_of("at: tor1, to: spine2, via: spine1")),
            Complaints{"5 overrides[0].to: spine2 has no hosts of its own: name hosts, ToRs or a prefix"});
}

// tor1's LAG up has Ethernet8, to spine1, and Ethernet16 and 20, which are added; another link leads to spine2.
std::string with_lag(const std::string& keys, const std::string& members = "") {
  return override_of(keys) +
         "topology:\n  links: [{endpoints: [tor1, spine1], rate: 400Gbps}, {endpoints: [tor1, spine1], rate: "
         "400Gbps}]\n"
         "  lags: [{name: up, between: [tor1, spine1]" +
         members + "}]\n";
}

TEST(OverrideConfig, NamesALagOrTheSwitchBehindIt) {
  const Words up{"tor1 Ethernet0 10.0.2.2/32 Ethernet8", "tor1 Ethernet0 fd00:0:0:2::2/128 Ethernet8"};
  EXPECT_EQ(words_of(read_well(with_lag("at: tor1, from: h1, to: h3, via: up"))), up);
  EXPECT_EQ(words_of(read_well(with_lag("at: tor1, from: h1, to: h3, via: spine1"))), up);
  EXPECT_EQ(words_of(read_well(with_lag("at: spine1, from: up, to: 10.0.2.0/24, via: tor2"))).size(), 3u)
      << "it comes in by any of the LAG's ports";
  EXPECT_EQ(words_of(read_well(with_lag("at: tor1, to: 10.0.2.0/24, via: up"))),
            (Words{"tor1 Ethernet0 10.0.2.0/24 Ethernet8", "tor1 Ethernet4 10.0.2.0/24 Ethernet8",
                   "tor1 Ethernet12 10.0.2.0/24 Ethernet8"}))
      << "what came by the LAG does not go back into it";
}

TEST(OverrideConfig, RefusesAMemberOfALagAndALagOfOthers) {
  EXPECT_EQ(complaints_about(with_lag("at: tor1, from: h1, to: h3, via: Ethernet16")),
            Complaints{"5 overrides[0].via: is a member of the LAG up: say via: up"});
  EXPECT_EQ(complaints_about(with_lag("at: tor2, from: h3, to: h1, via: up")),
            Complaints{"5 overrides[0].via: there is no node 'up'"});
  EXPECT_EQ(complaints_about(with_lag("at: tor1, from: up, to: h3, via: up")),
            Complaints{"5 overrides[0].via: is where these packets come from"});
  // Of four links two are the LAG.
  EXPECT_EQ(complaints_about(
                with_lag("at: tor1, from: h1, to: h3, via: spine1", ", members: [tor1:Ethernet16, tor1:Ethernet20]")),
            Complaints{"5 overrides[0].via: is behind 2 ports of tor1: say which, such as Ethernet8"});
}

TEST(OverrideConfig, RefusesWaysThatDoNotLeadThere) {
  EXPECT_EQ(complaints_about(override_of("at: tor1, from: h1, to: h3, via: h2")),
            Complaints{"5 overrides[0].via: leads to the host h2, which forwards nothing"});
  EXPECT_EQ(complaints_about(override_of("at: tor1, from: h1, to: h2, via: spine1")),
            Complaints{"5 overrides[0].to: h2 is linked to tor1: there is nothing to choose"});
  // tor2's routes to h1 lead over both spines.
  EXPECT_EQ(complaints_about(override_of("at: spine1, from: tor1, to: h1, via: tor2")),
            Complaints{"5 overrides[0].via: does not lead to h1: tor2 would send it in a circle"});
  EXPECT_EQ(complaints_about(override_of("at: tor1, from: spine1, to: h3, via: spine1")),
            Complaints{"5 overrides[0].via: is where these packets come from"});
}

TEST(OverrideConfig, RefusesTwoWaysForTheSamePackets) {
  EXPECT_EQ(complaints_about(with("overrides:\n  - {at: tor1, from: h1, to: h3, via: spine1}\n"
                                  "  - {at: tor1, from: h1, to: [h4, h3], via: spine2}\n")),
            Complaints{"6 overrides[1].via: the override of line 5 sends the same packets elsewhere"});
  EXPECT_EQ(complaints_about(with("overrides:\n  - {at: tor1, from: h1, to: h3, via: spine1}\n"
                                  "  - {at: tor1, from: h1, to: tor2, via: spine2}\n")),
            Complaints{})
      << "one prefix is longer";
}

TEST(OverrideConfig, RefusesAPortThatWouldHaveToBeGuessed) {
  const std::string text =
      "name: two\ntopology:\n  nodes: {tor1: {kind: switch}, tor2: {kind: switch}, spine1: {kind: switch, role: "
      "aggregation}, h1: {kind: host}, h2: {kind: host}}\n  links:\n"
      "    - {endpoints: [h1, tor1], rate: 100Gbps}\n    - {endpoints: [h2, tor2], rate: 100Gbps}\n"
      "    - {endpoints: [tor1, spine1], rate: 100Gbps}\n    - {endpoints: [tor1, spine1], rate: 100Gbps}\n"
      "    - {endpoints: [tor2, spine1], rate: 100Gbps}\n"
      "overrides:\n  - {at: tor1, to: h2, via: spine1}\n";
  EXPECT_EQ(complaints_about(text),
            Complaints{"11 overrides[0].via: is behind 2 ports of tor1: say which, such as Ethernet4"});
}

TEST(EngineeringConfig, IsOfAllToRsOrOfThoseNamed) {
  const Testbed all = read_well(with("traffic_engineering: {}\n"));
  ASSERT_TRUE(all.engineering);
  EXPECT_EQ(all.engineering->switches.size(), 2u);
  EXPECT_EQ(all.engineering->interval, dataplane::Duration::ms(1));
  EXPECT_EQ(all.engineering->delay, dataplane::Duration::us(10));
  EXPECT_EQ(all.engineering->utilisation, 1);
  const Testbed one =
      read_well(with("traffic_engineering: {interval: 200us, delay: 5us, at: tor2, utilisation: 80%}\n"));
  ASSERT_EQ(one.engineering->switches.size(), 1u);
  EXPECT_EQ(one.fabric.nodes[one.engineering->switches[0]].name, "tor2");
  EXPECT_DOUBLE_EQ(one.engineering->utilisation, 0.8);
  EXPECT_FALSE(read_well(with("")).engineering);
}

TEST(EngineeringConfig, RefusesWhatCouldHaveNoEffect) {
  EXPECT_EQ(
      complaints_about(with("run: {duration: 1ms}\ntraffic_engineering: {interval: 1ms}\n")),
      Complaints{"5 traffic_engineering.interval: is so long that the run ends before the first plan is installed"});
  EXPECT_EQ(
      complaints_about(with("traffic_engineering: {at: spine1}\n")),
      Complaints{"4 traffic_engineering.at: spine1 is no ToR: hosts' flows are placed where they enter the fabric"});
  EXPECT_EQ(complaints_about(with("traffic_engineering: {interval: 0us}\n")).size(), 1u);
  EXPECT_EQ(complaints_about(with("traffic_engineering: {utilisation: 0%}\n")).size(), 1u);
}

}  // namespace
}  // namespace softspine::control
