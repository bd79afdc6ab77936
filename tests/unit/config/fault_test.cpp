// SPDX-License-Identifier: Apache-2.0
// Faults of cables and ports, in a file and asked for while a fabric runs.
#include <gtest/gtest.h>

#include "control/load/live_fault.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using dataplane::Instant;
using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;

std::vector<std::string> names_of(const Testbed& testbed, const std::vector<LinkEnd>& ports) {
  std::vector<std::string> out;
  for (const LinkEnd port : ports) out.push_back(testbed.fabric.name_of(port));
  return out;
}
using Names = std::vector<std::string>;

TEST(PortFaults, ALossyLinkIsSoBothWaysUnlessTheFileSaysWhich) {
  const Testbed testbed = read_well(
      with_fabric("faults:\n"
                  "  - {at: 1ms, until: 2ms, link: \"tor1:Ethernet0\", set: lossy, drop: 1%, corrupt: 0.0001%}\n"
                  "  - {at: 2ms, link: \"tor1:Ethernet0\", set: lossy, drop: 100%, direction: out}\n"
                  "  - {at: 3ms, link: \"tor1:Ethernet0\", set: lossy, corrupt: 2.5%, direction: in}\n"
                  "  - {at: 4ms, node: spine1, set: lossy, drop: 1%, direction: out}\n"));
  ASSERT_EQ(testbed.port_faults.size(), 4u);
  const PortFault& both = testbed.port_faults[0];
  EXPECT_EQ(both.kind, FaultKind::kLossy);
  EXPECT_EQ(names_of(testbed, both.ports), (Names{"tor1:Ethernet0", "h1:eth0"}));
  EXPECT_EQ(both.at, Instant::at(Duration::ms(1)));
  EXPECT_EQ(both.until, Instant::at(Duration::ms(2)));
  EXPECT_EQ(both.lost_millionths, 10'000u);
  EXPECT_EQ(both.damaged_millionths, 1u);
  EXPECT_EQ(names_of(testbed, testbed.port_faults[1].ports), Names{"tor1:Ethernet0"});
  EXPECT_EQ(testbed.port_faults[1].lost_millionths, 1'000'000u);
  EXPECT_TRUE(testbed.port_faults[1].until.is_never());
  EXPECT_EQ(names_of(testbed, testbed.port_faults[2].ports), Names{"h1:eth0"});
  EXPECT_EQ(names_of(testbed, testbed.port_faults[3].ports), (Names{"spine1:Ethernet0", "spine1:Ethernet4"}));
}

TEST(PortFaults, ADeafPortIsTheNamedOneOrAllOfANodes) {
  const Testbed testbed =
      read_well(with_fabric("faults:\n"
                            "  - {at: 1ms, link: \"tor1:Ethernet0\", set: deaf, priorities: [3]}\n"
                            "  - {at: 1ms, node: h2, set: deaf}\n"));
  ASSERT_EQ(testbed.port_faults.size(), 2u);
  EXPECT_EQ(testbed.port_faults[0].kind, FaultKind::kDeaf);
  EXPECT_EQ(names_of(testbed, testbed.port_faults[0].ports), Names{"tor1:Ethernet0"});
  EXPECT_EQ(testbed.port_faults[0].priorities, 0x08);
  EXPECT_EQ(names_of(testbed, testbed.port_faults[1].ports), Names{"h2:eth0"});
  EXPECT_EQ(testbed.port_faults[1].priorities, 0xff);
}

TEST(PortFaults, GoUpToTheLastPriority) {
  const Testbed testbed = read_well(with_fabric("faults: [{at: 1ms, node: h2, set: deaf, priorities: [0, 7]}]\n"));
  EXPECT_EQ(testbed.port_faults.at(0).priorities, 0x81);
}

// A cable fails by itself; that a port is deaf, its host would have to do.
TEST(PortFaults, OfHostsOutsideAreThoseOfTheirCables) {
  const auto with = [](const std::string& fault) {
    return with_fabric(
        "topology: {nodes: {out: {kind: host, edge: {tap: {name: t0}}}}, "
        "links: [{endpoints: [tor1, out], rate: 1Gbps}]}\nrun: {clock: wall}\n"
        "faults: [{at: 1ms, node: out, " +
        fault + "}]\n");
  };
  const Testbed lossy = read_well(with("set: lossy, drop: 1%, direction: out"));
  EXPECT_EQ(names_of(lossy, lossy.port_faults.at(0).ports), Names{"out:eth0"});
  EXPECT_EQ(complaints_about(with("set: clear")), Complaints{});
  EXPECT_EQ(complaints_about(with("set: deaf")),
            (Complaints{"6 faults[0].node: out is not a built-in host: nobody here can make it fail"}));
}

TEST(PortFaults, TxIsDisabledAtTheNamedPortOrAllOfASwitchs) {
  const Testbed testbed =
      read_well(with_fabric("faults:\n"
                            "  - {at: 1ms, until: 2ms, link: \"tor1:Ethernet0\", set: tx_disabled}\n"
                            "  - {at: 1ms, node: spine1, set: tx_disabled}\n"));
  ASSERT_EQ(testbed.port_faults.size(), 2u);
  EXPECT_EQ(testbed.port_faults[0].kind, FaultKind::kTxDisabled);
  EXPECT_EQ(names_of(testbed, testbed.port_faults[0].ports), Names{"tor1:Ethernet0"});
  EXPECT_EQ(testbed.port_faults[0].until, Instant::at(Duration::ms(2)));
  EXPECT_EQ(names_of(testbed, testbed.port_faults[1].ports), (Names{"spine1:Ethernet0", "spine1:Ethernet4"}));
  EXPECT_EQ(complaints_about(with_fabric("run: {duration: 10ms}\n"
                                         "faults:\n"
                                         "  - {at: 1ms, node: h1, set: tx_disabled}\n"
                                         "  - {at: 1ms, node: tor1, set: tx_disabled, priorities: [3]}\n")),
            (Complaints{"6 faults[0].node: h1 is not a switch: its ports have no queues to stop",
                        "7 faults[1].priorities: is not for this fault"}));
}

TEST(PortFaults, ClearOrWellAsBeforeIsForThePortItsPeerAndTheHost) {
  const Testbed testbed =
      read_well(with_fabric("faults:\n"
                            "  - {at: 1ms, node: h1, set: clear}\n"
                            "  - {at: 2ms, link: \"tor1:Ethernet0\", set: well}\n"));
  ASSERT_EQ(testbed.port_faults.size(), 2u);
  EXPECT_EQ(names_of(testbed, testbed.port_faults[0].ports), (Names{"h1:eth0", "tor1:Ethernet0"}));
  EXPECT_EQ(names_of(testbed, testbed.port_faults[1].ports), (Names{"tor1:Ethernet0", "h1:eth0"}));
  ASSERT_EQ(testbed.host_faults.size(), 1u);
  EXPECT_EQ(testbed.host_faults[0].kind, FaultKind::kClear);
}

TEST(PortFaults, RefuseWhatTheyCannotBe) {
  EXPECT_EQ(
      complaints_about(with_fabric("run: {duration: 10ms}\n"
                                   "faults:\n"
                                   "  - {at: 1ms, link: \"tor1:Ethernet0\", set: lossy}\n"
                                   "  - {at: 1ms, link: \"tor1:Ethernet0\", set: lossy, drop: 60%, corrupt: 41%}\n"
                                   "  - {at: 1ms, link: \"tor1:Ethernet0\", set: lossy, drop: 0%}\n"
                                   "  - {at: 1ms, link: \"tor1:Ethernet0\", set: lossy, drop: 1}\n"
                                   "  - {at: 1ms, link: \"tor1:Ethernet0\", set: deaf, drop: 1%, direction: in}\n"
                                   "  - {at: 1ms, link: \"tor1:Ethernet0\", set: down, drop: 1%}\n"
                                   "  - {at: 1ms, link: \"tor1:Ethernet1\", set: deaf}\n"
                                   "  - {at: 1ms, link: \"tor1:Ethernet0\", set: deaf, priorities: [8]}\n"
                                   "  - {at: 1ms, node: tor9, set: lossy, drop: 1%}\n"
                                   "  - {at: 1ms, node: h1, set: defa}\n")),
      (Complaints{
          "6 faults[0]: needs 'drop' or 'corrupt': the share of frames", "7 faults[1].corrupt: and 'drop' exceed 100%",
          "8 faults[2].drop: must be at least 0.0001%, not '0%'",
          "9 faults[3].drop: '1' has no unit: expected a percentage such as 25% (%)",
          "10 faults[4].drop: is not for this fault", "10 faults[4].direction: is not for this fault",
          "11 faults[5].drop: is not for this fault",
          "12 faults[6].link: tor1 has no link at 'Ethernet1': did you mean 'Ethernet0'?",
          "13 faults[7].priorities: has 8: priorities are 0 to 7",
          "14 faults[8].node: there is no node 'tor9': did you mean 'tor1'?",
          "15 faults[9].set: 'defa' is not one of down, up, storm, slow_receiver, lossy, deaf, tx_disabled, clear, "
          "one_way, dead, drained: did you mean 'deaf'?"}));
}

TEST(LiveFaults, AreWhatAFileWouldSay) {
  const Testbed testbed = read_well(with_fabric(""));
  const auto lossy = parse_live_fault(
      R"({"link": "tor1:Ethernet0", "set": "lossy", "drop": "1%", "at": "0s", "until": "5ms"})", testbed);
  ASSERT_TRUE(lossy) << to_string(lossy.error()[0]);
  ASSERT_EQ(lossy->ports.size(), 1u);
  EXPECT_EQ(lossy->ports[0].until, Instant::at(Duration::ms(5)));
  EXPECT_EQ(lossy->ports[0].lost_millionths, 10'000u);
  const auto storm =
      parse_live_fault(R"({"node": "h1", "set": "storm", "priorities": ["3", "4"], "at": "0s"})", testbed);
  ASSERT_TRUE(storm) << to_string(storm.error()[0]);
  ASSERT_EQ(storm->hosts.size(), 1u);
  EXPECT_EQ(storm->hosts[0].priorities, 0x18);
}

TEST(LiveFaults, SayWhatIsWrongByItsKey) {
  const Testbed testbed = read_well(with_fabric(""));
  const auto wrong = [&](const char* text) {
    const auto fault = parse_live_fault(text, testbed);
    return fault ? "nothing" : fault.error().front().path + ": " + fault.error().front().message;
  };
  EXPECT_EQ(wrong(R"({"at": "0s", "node": "tor9", "set": "deaf"})"),
            "node: there is no node 'tor9': did you mean 'tor1'?");
  EXPECT_EQ(wrong(R"({"at": "0s", "link": "tor1:Ethernet0", "set": "lossy", "drop": "5"})"),
            "drop: '5' has no unit: expected a percentage such as 25% (%)");
  EXPECT_EQ(wrong(R"({"at": "0s", "node": "spine1", "set": "storm"})"),
            "node: spine1 is not a built-in host: nobody here can make it fail");
  EXPECT_NE(wrong("[1, 2]"), "nothing");
  EXPECT_NE(wrong("{"), "nothing");
  EXPECT_NE(wrong(""), "nothing");
}

}  // namespace
}  // namespace softspine::control
