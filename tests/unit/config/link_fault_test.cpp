// SPDX-License-Identifier: Apache-2.0
// Faults of links in a file: which links a node, a rack or a plane has, when a link flaps, which ends are dead.
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using dataplane::Instant;
using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;

using LinkNames = std::set<std::string>;

// The ends of a fault's links that lead to these, as names of nodes: "tor1-h1".
LinkNames links_of(const Testbed& testbed, const Fault& fault) {
  LinkNames out;
  for (const uint32_t link : fault.links) {
    const FabricLink& it = testbed.fabric.links[link];
    const std::string a = testbed.fabric.nodes[it.a.node].name;
    const std::string b = testbed.fabric.nodes[it.b.node].name;
    out.insert(std::min(a, b) + "-" + std::max(a, b));
  }
  return out;
}
LinkNames links_down(const std::string& where) {
  const Testbed testbed = read_well(with_fabric("faults: [{at: 1ms, " + where + ", set: down}]\n"));
  EXPECT_EQ(testbed.faults.at(0).links.size(), links_of(testbed, testbed.faults[0]).size()) << "each link once";
  return links_of(testbed, testbed.faults[0]);
}

TEST(LinkFaults, OfANodeARackOrAPlaneAreOfAllItsLinks) {
  EXPECT_EQ(links_down("link: 'tor1:Ethernet8'"), (LinkNames{"spine1-tor1"}));
  EXPECT_EQ(links_down("node: spine1"), (LinkNames{"spine1-tor1", "spine1-tor2"}));
  EXPECT_EQ(links_down("node: h1"), (LinkNames{"h1-tor1"}));
  EXPECT_EQ(links_down("rack: tor1"), (LinkNames{"h1-tor1", "h2-tor1", "spine1-tor1"}));
  EXPECT_EQ(links_down("plane: 1"),
            (LinkNames{"h1-tor1", "h2-tor1", "h3-tor2", "h4-tor2", "spine1-tor1", "spine1-tor2"}));
  EXPECT_EQ(links_down("node: tor1, ports: [Ethernet0, Ethernet8]"), (LinkNames{"h1-tor1", "spine1-tor1"}));
}

TEST(LinkFaults, OfWhatIsNoRackPlaneOrPortAreRefused) {
  const auto about = [](const std::string& where) {
    const Complaints all = complaints_about(with_fabric("faults: [{at: 1ms, " + where + ", set: down}]\n"));
    EXPECT_EQ(all.size(), 1u) << where;
    return all.empty() ? std::string() : all[0];
  };
  EXPECT_EQ(about("rack: spine1"), "4 faults[0].rack: spine1 has no hosts: a rack is a ToR and its hosts");
  EXPECT_EQ(about("rack: tor9"), "4 faults[0].rack: there is no node 'tor9': did you mean 'tor1'?");
  EXPECT_EQ(about("plane: 2"), "4 faults[0].plane: there is no plane 2: the fabric has one");
  EXPECT_EQ(about("node: tor1, ports: []"), "4 faults[0].ports: names no port");
  EXPECT_EQ(about("node: tor1, ports: [Ethernet9]"),
            "4 faults[0].ports: tor1 has no link at 'Ethernet9': did you mean 'Ethernet0'?");
}

// "10 down, 25 up", in microseconds.
std::string flaps_of(const std::string& flap, const std::string& more = "") {
  std::string out;
  for (const Fault& fault : read_well(with_fabric("faults: [{at: 10us, link: 'tor1:Ethernet8', set: down, flap: {" +
                                                  flap + "}}" + more + "]\n"))
                                .faults) {
    out += (out.empty() ? "" : ", ") + std::to_string(fault.at.count_ps() / 1'000'000) +
           (fault.kind == FaultKind::kDown ? " down" : " up");
  }
  return out;
}

TEST(LinkFaults, OfALinkThatFlapsComeOnceAPeriodAndEndAfterTheTimeThatItIsDown) {
  EXPECT_EQ(flaps_of("period: 40us, down: 15us, count: 3"), "10 down, 25 up, 50 down, 65 up, 90 down, 105 up");
  EXPECT_EQ(flaps_of("period: 40us, count: 2"), "10 down, 30 up, 50 down, 70 up") << "half of the period";
}

// The jitter delays each flap as a whole, by its own draw; what else the file says draws nothing from it.
TEST(LinkFaults, OfALinkThatFlapsAreLateByAsMuchAsTheJitterAtMost) {
  const auto read = [](const std::string& more) {
    return read_well(with_fabric("faults: [{at: 10us, link: 'tor1:Ethernet8', set: down, flap: {period: 100us, down: "
                                 "20us, jitter: 50us, count: 40}}" +
                                 more + "]\n"))
        .faults;
  };
  const std::vector<Fault> alone = read("");
  ASSERT_EQ(alone.size(), 80u);
  std::set<int64_t> late;
  for (size_t i = 0; i < 40; ++i) {
    const Duration by = alone[2 * i].at - Instant::at(Duration::us(10 + 100 * static_cast<int64_t>(i)));
    EXPECT_GE(by, Duration{});
    EXPECT_LE(by, Duration::us(50));
    EXPECT_EQ(alone[2 * i + 1].at - alone[2 * i].at, Duration::us(20));
    late.insert(by.count_ps());
  }
  EXPECT_EQ(late.size(), 40u);
  const std::vector<Fault> beside = read(", {at: 9ms, node: spine1, set: down}");
  ASSERT_EQ(beside.size(), 81u);
  for (size_t i = 0; i < 80; ++i) EXPECT_EQ(beside[i].at, alone[i].at);
}

// A dead link delivers nothing; one that is dead one way, nothing of what the named end sends, or hears.
TEST(LinkFaults, OfADeadLinkKillTheFramesOfTheEndsThatTheFileNames) {
  const auto ports = [](const std::string& keys, FaultKind kind = FaultKind::kOneWay) {
    const Testbed testbed = read_well(with_fabric("faults: [{at: 1ms, link: 'tor1:Ethernet8', " + keys + "}]\n"));
    LinkNames out;
    EXPECT_EQ(testbed.faults.at(0).kind, kind);
    for (const LinkEnd end : testbed.faults[0].ports) out.insert(testbed.fabric.name_of(end));
    return out;
  };
  EXPECT_EQ(ports("set: dead", FaultKind::kDead), (LinkNames{"tor1:Ethernet8", "spine1:Ethernet0"}));
  EXPECT_EQ(ports("set: one_way, direction: out"), (LinkNames{"tor1:Ethernet8"}));
  EXPECT_EQ(ports("set: one_way, direction: in"), (LinkNames{"spine1:Ethernet0"}));
}

}  // namespace
}  // namespace softspine::control
