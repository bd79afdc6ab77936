// SPDX-License-Identifier: Apache-2.0
// What a file says about LAGs, and what it must not say.
#include <gtest/gtest.h>

#include "control/routing/routes.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::read_well;

// Lines 1 to 11; tor1 and spine1 have four parallel links, of which the last is slower.
constexpr const char* kParallel = R"(name: t
topology:
  nodes: {tor1: {kind: switch}, spine1: {kind: switch, role: aggregation}, spine2: {kind: switch, role: aggregation},
          h1: {kind: host}}
  links:
    - {endpoints: ["tor1:Ethernet0", "spine1:Ethernet0"], rate: 100Gbps}
    - {endpoints: ["tor1:Ethernet4", "spine1:Ethernet8"], rate: 100Gbps}
    - {endpoints: ["tor1:Ethernet8", "spine1:Ethernet4"], rate: 100Gbps}
    - {endpoints: ["tor1:Ethernet12", "spine1:Ethernet12"], rate: 25Gbps}
    - {endpoints: ["tor1:Ethernet16", "spine2:Ethernet0"], rate: 100Gbps}
    - {endpoints: [tor1, h1], rate: 100Gbps}
  lags:
)";
std::string with(const std::string& lags) {
  return kParallel + lags;
}
constexpr const char* kThree =
    "    - {name: PortChannel1, between: [tor1, spine1], members: [tor1:Ethernet0, spine1:Ethernet8, "
    "tor1:Ethernet8]}\n";

TEST(Lags, HaveThePortsOfBothEnds) {
  const Testbed testbed = read_well(with(kThree));
  ASSERT_EQ(testbed.fabric.lags.size(), 1U);
  const Lag& lag = testbed.fabric.lags[0];
  EXPECT_EQ(lag.name, "PortChannel1");
  EXPECT_EQ(lag.links.size(), 3U);
  EXPECT_EQ(lag.min_links, 1U);
  EXPECT_EQ(lag.mode, LagMode::kStatic);
  EXPECT_EQ(lag.ports_at(lag.nodes[0]), (std::vector<uint16_t>{0, 1, 2}));
  EXPECT_EQ(lag.ports_at(lag.nodes[1]), (std::vector<uint16_t>{0, 1, 2}));
  for (const uint32_t link : lag.links) EXPECT_EQ(testbed.fabric.links[link].lag, 0U);
}

TEST(Lags, AreOneWayByTheirFirstPortHoweverManyMembersAreUp) {
  const Testbed testbed = read_well(with(kThree));
  const Lag& lag = testbed.fabric.lags[0];
  const uint32_t tor = lag.nodes[0];
  const uint32_t spine = lag.nodes[1];
  std::vector<bool> up(testbed.fabric.links.size(), true);
  const auto ways = [&](const std::vector<bool>& links) {
    const RouteTable table = compute_routes(testbed.fabric, links)[tor];
    return table.by_switch[spine] == kNone ? std::vector<uint16_t>{} : table.groups[table.by_switch[spine]];
  };
  EXPECT_EQ(ways(up), (std::vector<uint16_t>{0, 3})) << "the LAG, and the link that is in none";
  up[testbed.fabric.nodes[tor].ports[0].link] = false;
  EXPECT_EQ(ways(up), (std::vector<uint16_t>{0, 3})) << "its first port's link is down, the LAG is not";
  up[testbed.fabric.nodes[tor].ports[1].link] = up[testbed.fabric.nodes[tor].ports[2].link] = false;
  EXPECT_EQ(ways(up), (std::vector<uint16_t>{3}));
}

TEST(Lags, AreNoWayBelowMinLinks) {
  const Testbed testbed =
      read_well(with("    - {name: a, between: [tor1, spine1], members: [tor1:Ethernet0, tor1:Ethernet4, "
                     "tor1:Ethernet8], min_links: 2}\n"));
  const Lag& lag = testbed.fabric.lags[0];
  std::vector<bool> up(testbed.fabric.links.size(), true);
  up[lag.links[0]] = false;
  const auto group = [&] {
    const RouteTable table = compute_routes(testbed.fabric, up)[lag.nodes[0]];
    return table.groups[table.by_switch[lag.nodes[1]]];
  };
  EXPECT_EQ(group(), (std::vector<uint16_t>{0, 3}));
  up[lag.links[1]] = false;
  EXPECT_EQ(group(), (std::vector<uint16_t>{3}));
}

TEST(Lags, TakeAllLinksBetweenTheTwoSwitchesUnlessTheyNameMembers) {
  EXPECT_EQ(
      complaints_about(with("    - {name: a, between: [tor1, spine1]}\n")),
      (Complaints{"13 topology.lags[0].between: tor1:Ethernet0 and tor1:Ethernet12 differ: a LAG's members have one "
                  "rate, MTU and flow control"}));
  EXPECT_EQ(read_well(with("    - {name: a, between: [spine2, tor1], mode: lacp, fast_rate: true}\n"))
                .fabric.lags[0]
                .links.size(),
            1U);
}

TEST(Lags, AreRefusedWhereTheyCannotBe) {
  const auto about = [](const std::string& rest) {
    const Complaints all = complaints_about(with("    - {name: a, between: " + rest + "}\n"));
    EXPECT_EQ(all.size(), 1U) << rest;
    return all.empty() ? std::string() : all[0];
  };
  EXPECT_EQ(about("[tor1, spin1]"),
            "13 topology.lags[0].between[1]: there is no switch 'spin1': did you mean 'spine1'?");
  EXPECT_EQ(about("[tor1, h1]"), "13 topology.lags[0].between[1]: h1 is a host: its bond is a 'bond', not a LAG");
  EXPECT_EQ(about("[tor1, tor1]"), "13 topology.lags[0].between: names tor1 twice");
  EXPECT_EQ(about("[spine1, spine2]"), "13 topology.lags[0].between: no link joins spine1 and spine2");
  EXPECT_EQ(about("[tor1]"), "13 topology.lags[0].between: a LAG is between two switches, not 1");
  EXPECT_EQ(about("[tor1, spine1], members: [tor1:Ethernet0, tor1:Ethernet16]"),
            "13 topology.lags[0].members[1]: leads to spine2: a LAG's members join the same two switches");
  EXPECT_EQ(about("[tor1, spine1], members: [tor1:Ethernet44]"),
            "13 topology.lags[0].members[0]: tor1 has no port 'Ethernet44': did you mean 'Ethernet4'?");
  EXPECT_EQ(about("[tor1, spine1], members: [tor1:Ethernet17]"),
            "13 topology.lags[0].members[0]: tor1 has no port 'Ethernet17': did you mean 'Ethernet12'?")
      << "Ethernet16 leads elsewhere";
  EXPECT_EQ(about("[tor1, spine1], members: [spine1]"),
            "13 topology.lags[0].members[0]: expected NODE:PORT such as spine1:Ethernet0, found 'spine1'");
  EXPECT_EQ(
      about("[tor1, spine1], members: [spine2:Ethernet0]"),
      "13 topology.lags[0].members[0]: must be a port of tor1 or spine1, not of 'spine2': did you mean 'spine1'?");
  EXPECT_EQ(about("[tor1, spine1], members: [tor1:Ethernet4, spine1:Ethernet8]"),
            "13 topology.lags[0].members[1]: its link is named twice");
  EXPECT_EQ(about("[tor1, spine1], members: [tor1:Ethernet0, tor1:Ethernet4], min_links: 3"),
            "13 topology.lags[0].min_links: is more than the 2 links that a has");
  EXPECT_EQ(about("[tor1, spine2], fast_rate: true"), "13 topology.lags[0].fast_rate: goes with 'mode: lacp' only");
  EXPECT_EQ(about("[tor1, spine2], retry_count: 5"), "13 topology.lags[0].retry_count: goes with 'mode: lacp' only");
  EXPECT_EQ(about("[tor1, spine2], mode: lacp, retry_count: 2"),
            "13 topology.lags[0].retry_count: must be at least 3, not '2'");
  EXPECT_EQ(about("[tor1, spine2], agreed: true"), "13 topology.lags[0].agreed: goes with 'mode: lacp' only");
}

TEST(Lags, HaveNamesThatNothingElseHas) {
  const auto named = [](const std::string& name) {
    return complaints_about(with("    - {name: " + name + ", between: [tor1, spine2]}\n"));
  };
  EXPECT_EQ(named("spine1"), (Complaints{"13 topology.lags[0].name: is the name of a node"}));
  EXPECT_EQ(named("h1"), (Complaints{"13 topology.lags[0].name: is the name of a node"}));
  EXPECT_EQ(named("Ethernet16"), (Complaints{"13 topology.lags[0].name: is the name of a port of tor1"}));
  EXPECT_EQ(named("Ethernet0"), (Complaints{"13 topology.lags[0].name: is the name of a port of tor1"}));
  EXPECT_EQ(named("Ethernet99"), Complaints{});
  const std::string limits = " is no name: letters, digits, '_' and '-', at most 63";
  // So none is called as LAGs out of a config_db.json are, SWITCH:PORTCHANNEL.
  for (const std::string name : {"", "tor1:PortChannel1", "a b", "-a"})
    EXPECT_EQ(named("\"" + name + "\""), (Complaints{"13 topology.lags[0].name: '" + name + "'" + limits}));
}

TEST(Lags, AreNamedByFaultsLinkByLinkAndByOverridesAsAWhole) {
  const auto fault = [](const std::string& link) {
    return complaints_about(with(kThree) + "faults: [{at: 1ms, link: \"" + link + "\", set: down}]\n");
  };
  EXPECT_EQ(fault("tor1:PortChannel1"),
            (Complaints{"14 faults[0].link: 'PortChannel1' is a LAG: name one of its links, such as tor1:Ethernet0"}));
  EXPECT_EQ(fault("spine1:PortChannel2"),
            (Complaints{"14 faults[0].link: spine1 has no link at 'PortChannel2': did you mean 'PortChannel1'?"}));
  EXPECT_EQ(fault("spine2:PortChannel1"), (Complaints{"14 faults[0].link: spine2 has no link at 'PortChannel1'"}));
  const auto via = [](const std::string& name) {
    return complaints_about(with("    - {name: uplink-one, between: [tor1, spine2]}\n") +
                            "overrides: [{at: tor1, to: h1, via: " + name + "}]\n");
  };
  EXPECT_EQ(via("uplink-on"),
            (Complaints{"14 overrides[0].via: tor1 has no link at 'uplink-on': did you mean 'uplink-one'?"}));
  EXPECT_EQ(via("spine3"), (Complaints{"14 overrides[0].via: there is no node 'spine3': did you mean 'spine1'?"}));
}

TEST(Lags, DoNotShareALinkOrAName) {
  EXPECT_EQ(
      complaints_about(
          with(std::string(kThree) + "    - {name: b, between: [tor1, spine1], members: [tor1:Ethernet4]}\n")),
      (Complaints{"14 topology.lags[1].members: tor1:Ethernet4 is in PortChannel1 already: a link is in one LAG"}));
  EXPECT_EQ(complaints_about(with(std::string(kThree) + "    - {name: PortChannel1, between: [tor1, spine2]}\n")),
            (Complaints{"14 topology.lags[1].name: there is another LAG 'PortChannel1'"}));
}

TEST(Lags, ThatAreRefusedLeaveTheirLinksToOthers) {
  const std::string third = "    - {name: b, between: [tor1, spine2]}\n";
  EXPECT_EQ(
      complaints_about(with(std::string(kThree) + "    - {name: PortChannel1, between: [tor1, spine2]}\n" + third)),
      (Complaints{"14 topology.lags[1].name: there is another LAG 'PortChannel1'"}));
  EXPECT_EQ(complaints_about(with("    - {name: h1, between: [tor1, spine2]}\n" + third)),
            (Complaints{"13 topology.lags[0].name: is the name of a node"}));
}

}  // namespace
}  // namespace softspine::control
