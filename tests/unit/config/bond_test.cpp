// SPDX-License-Identifier: Apache-2.0
// What a testbed file says about hosts with two ports.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;

constexpr const char* kTwoLinks =
    "topology:\n  links: [{endpoints: [h1, tor2], rate: 100Gbps}]\n  nodes:\n    h1: {bond: ";

std::string small(const std::string& bond) {
  return with_fabric(kTwoLinks + bond + "}\n");
}

std::string hpn(const std::string& bond, const std::string& more = "") {
  return "name: t\nfabric: {kind: hpn, segments: 1, servers_per_segment: 2, rails: 1, aggregations_per_plane: 1,\n"
         "  host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}, bond: " +
         bond + "}\n" + more;
}

Bond bond_of(const Testbed& testbed, const std::string& host) {
  const auto found = std::ranges::find(testbed.fabric.nodes, host, &FabricNode::name);
  return found == testbed.fabric.nodes.end() ? Bond{} : found->bond;
}

TEST(Bond, LooksEvery100MillisecondsAndSpreadsByQueuePairUnlessToldOtherwise) {
  const Bond bond = bond_of(read_well(small("{}")), "h1");
  EXPECT_EQ(bond.mode, BondMode::kLacp);
  EXPECT_EQ(bond.xmit_hash_policy, XmitHashPolicy::kQp);
  EXPECT_EQ(bond.miimon, Duration::ms(100));
  EXPECT_EQ(bond.updelay, Duration{});
  EXPECT_EQ(bond.remote_failover, RemoteFailover::kBoth);
  EXPECT_EQ(bond.path_change_after, 2);
}

TEST(Bond, ReadsEveryKey) {
  const Bond bond = bond_of(
      read_well(small("{mode: active-backup, xmit_hash_policy: layer2+3, miimon: 1ms, downdelay: 2ms, updelay: 3ms, "
                      "remote_failover: transport, path_change_after: 7}")),
      "h1");
  EXPECT_EQ(bond.mode, BondMode::kActiveBackup);
  EXPECT_EQ(bond.xmit_hash_policy, XmitHashPolicy::kLayer23);
  EXPECT_EQ(bond.miimon, Duration::ms(1));
  EXPECT_EQ(bond.downdelay, Duration::ms(2));
  EXPECT_EQ(bond.updelay, Duration::ms(3));
  EXPECT_TRUE(bond.changes_paths());
  EXPECT_FALSE(bond.is_routed_around());
  EXPECT_EQ(bond.path_change_after, 7);
}

TEST(Bond, RunsLacpWhereItHasARate) {
  const auto rate = [](const std::string& bond) { return bond_of(read_well(small(bond)), "h1").lacp_rate; };
  EXPECT_EQ(rate("{}"), std::nullopt);
  EXPECT_EQ(rate("{lacp_rate: slow}"), LacpRate::kSlow);
  EXPECT_EQ(rate("{mode: lacp, lacp_rate: fast}"), LacpRate::kFast);
  const Complaints other{"7 topology.nodes.h1.bond.lacp_rate: goes with 'mode: lacp' only"};
  EXPECT_EQ(complaints_about(small("{mode: balance-xor, lacp_rate: fast}")), other);
  EXPECT_EQ(complaints_about(hpn("{mode: active-backup, lacp_rate: fast}")),
            (Complaints{"3 fabric.bond.lacp_rate: goes with 'mode: lacp' only"}));
  EXPECT_EQ(
      bond_of(read_well(hpn("{lacp_rate: fast}", "topology: {nodes: {s1-h2-nic1: {bond: {mode: balance-xor}}}}\n")),
              "s1-h2-nic1")
          .lacp_rate,
      std::nullopt);
  EXPECT_EQ(complaints_about(with_fabric("topology:\n  links: [{endpoints: [h1, tor1], rate: 100Gbps}]\n  nodes:\n    "
                                         "h1: {bond: {lacp_rate: fast}}\n")),
            (Complaints{"7 topology.nodes.h1.bond.lacp_rate: is for hosts at two switches, and h1 is at none or one"}));
}

TEST(Bond, ItsSwitchesAskForTheFastRateUnlessToldOtherwise) {
  const auto is_fast = [](const std::string& bond) { return bond_of(read_well(small(bond)), "h1").fast_rate; };
  EXPECT_TRUE(is_fast("{lacp_rate: slow}"));
  EXPECT_TRUE(is_fast("{lacp_rate: slow, fast_rate: true}"));
  EXPECT_FALSE(is_fast("{lacp_rate: fast, fast_rate: false}"));
  EXPECT_EQ(bond_of(read_well(small("{lacp_rate: slow, retry_count: 7}")), "h1").retry_count, 7u);
  EXPECT_EQ(bond_of(read_well(small("{lacp_rate: slow}")), "h1").retry_count, 3u);
  EXPECT_EQ(complaints_about(small("{mode: balance-xor, retry_count: 7}")),
            (Complaints{"7 topology.nodes.h1.bond.retry_count: goes with 'mode: lacp' only"}));
  EXPECT_EQ(complaints_about(small("{mode: balance-xor, fast_rate: false}")),
            (Complaints{"7 topology.nodes.h1.bond.fast_rate: goes with 'mode: lacp' only"}));
  const Testbed mixed = read_well(
      hpn("{lacp_rate: fast, fast_rate: false}", "topology: {nodes: {s1-h2-nic1: {bond: {fast_rate: true}}}}\n"));
  EXPECT_FALSE(bond_of(mixed, "s1-h1-nic1").fast_rate);
  EXPECT_TRUE(bond_of(mixed, "s1-h2-nic1").fast_rate);
}

// Outside hosts speak LACP by themselves.
TEST(Bond, ARateOfSwitchesThatHaveNobodyToAskIsWarnedOf) {
  const auto warnings = [](const std::string& text) {
    std::vector<std::string> out;
    const Testbed testbed = read_well(text);
    for (const Error& warning : testbed.warnings) out.push_back(warning.path + ": " + warning.message);
    return out;
  };
  const std::string why = ".bond.fast_rate: has no effect: without lacp_rate built-in hosts exchange no LACPDUs";
  EXPECT_EQ(warnings(small("{fast_rate: false}")), (Complaints{"topology.nodes.h1" + why}));
  EXPECT_EQ(warnings(hpn("{fast_rate: false}")), (Complaints{"fabric" + why}));
  EXPECT_EQ(warnings(hpn("{fast_rate: false, lacp_rate: slow}")), Complaints{});
  EXPECT_EQ(warnings(hpn("{fast_rate: false}", "topology: {nodes: {s1-h2-nic1: {bond: {lacp_rate: slow}}}}\n")),
            Complaints{});
  EXPECT_EQ(warnings(hpn("{fast_rate: false}", "topology: {nodes: {s1-h2-nic1: {guest: {kind: uml}}}}\n")),
            Complaints{});
}

TEST(Bond, AHostsOwnKeysReplaceThoseOfItsGenerator) {
  const Testbed testbed =
      read_well(hpn("{mode: balance-xor, miimon: 1ms}", "topology: {nodes: {s1-h2-nic1: {bond: {miimon: 5ms}}}}\n"));
  EXPECT_EQ(bond_of(testbed, "s1-h1-nic1").miimon, Duration::ms(1));
  EXPECT_EQ(bond_of(testbed, "s1-h2-nic1").miimon, Duration::ms(5));
  EXPECT_EQ(bond_of(testbed, "s1-h2-nic1").mode, BondMode::kBalanceXor);
}

TEST(Bond, IsOfTwoLinksOfOneRateAtABuiltInHost) {
  EXPECT_EQ(complaints_about(with_fabric("topology: {nodes: {h1: {bond: {}}}}\n")),
            (Complaints{"4 topology.nodes.h1.bond: is for hosts with two links, and h1 has 1"}));
  EXPECT_EQ(complaints_about(with_fabric("topology: {nodes: {tor1: {bond: {}}}}\n")),
            (Complaints{"4 topology.nodes.tor1.bond: is for hosts, and tor1 is a switch"}));
  const std::string slower =
      "topology:\n  links: [{endpoints: [h1, tor2], rate: 25Gbps}]\n  nodes:\n    h1: {bond: {mode: ";
  EXPECT_EQ(complaints_about(with_fabric(slower + "lacp}}\n")),
            (Complaints{"7 topology.nodes.h1.bond: needs links of one rate: LACP aggregates no others"}));
  EXPECT_EQ(complaints_about(with_fabric(slower + "balance-xor}}\n")), Complaints{});
}

TEST(Bond, DelaysThatNoLookCanKeepAreWarnedOf) {
  const auto warnings = [](const std::string& bond) {
    std::vector<std::string> out;
    const Testbed testbed = read_well(small(bond));
    for (const Error& warning : testbed.warnings) out.push_back(warning.path + ": " + warning.message);
    return out;
  };
  EXPECT_EQ(warnings("{miimon: 1ms, updelay: 3ms}"), Complaints{});
  EXPECT_EQ(warnings("{miimon: 2ms, updelay: 3ms}"),
            (Complaints{"topology.nodes.h1.bond.updelay: is rounded down to a multiple of miimon"}));
  EXPECT_EQ(warnings("{miimon: 0s, downdelay: 3ms}"),
            (Complaints{"topology.nodes.h1.bond.downdelay: has no effect: miimon is 0, so the host never looks at its "
                        "links"}));
}

}  // namespace
}  // namespace softspine::control
