// SPDX-License-Identifier: Apache-2.0
// Sets of hosts in workloads and faults, and what is said where a set names nobody.
#include <gtest/gtest.h>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;
using Hosts = std::vector<uint32_t>;

Testbed small_with(const std::string& rest) {
  return read_well(with_fabric(rest + "\n"));
}

TEST(HostSets, AreTheSameAsTheirNamesWrittenOut) {
  const auto by_name = small_with("workload: [{name: w, pattern: ring, hosts: [h1, h2, h3, h4]}]");
  for (const char* set : {"[h1..h4]", "['*']", "['tor1:*', 'tor2:*']", "[server *]", "[h1, h2..h3, 'h4*']"}) {
    const auto by_set = small_with("workload: [{name: w, pattern: ring, hosts: " + std::string(set) + "}]");
    EXPECT_EQ(by_set.workloads.at(0).hosts, by_name.workloads.at(0).hosts) << set;
  }
}

TEST(HostSets, PairUpInTheirOrder) {
  const auto testbed = small_with("workload: [{name: w, pattern: pairs, from: 'tor1:*', to: h4..h3}]");
  const auto expected = small_with("workload: [{name: w, pattern: pairs, from: [h1, h2], to: [h4, h3]}]");
  EXPECT_EQ(testbed.workloads.at(0).from, expected.workloads.at(0).from);
  EXPECT_EQ(testbed.workloads.at(0).to, expected.workloads.at(0).to);
}

TEST(HostSets, SendToOneInAnIncast) {
  EXPECT_EQ(small_with("workload: [{name: w, pattern: incast, from: h2..h4, to: h1}]").workloads.at(0).from.size(), 3u);
  EXPECT_EQ(complaints_about(with_fabric("workload: [{name: w, pattern: incast, from: h1, to: h2..h4}]\n")),
            (Complaints{"4 workload[0].to: an incast has one receiver"}));
  EXPECT_EQ(complaints_about(with_fabric("workload: [{name: w, pattern: incast, from: 'h*', to: h2}]\n")),
            (Complaints{"4 workload[0].from: h2 would send to itself"}));
}

TEST(HostSets, FailTogether) {
  const auto links = small_with("faults: [{at: 1us, node: 'tor*', set: down}]");
  EXPECT_EQ(links.faults.at(0).links.size(), links.fabric.links.size()) << "each link once";
  const auto hosts = small_with("faults: [{at: 1us, node: h2..h3, set: storm}]");
  ASSERT_EQ(hosts.host_faults.size(), 2u);
  EXPECT_EQ(hosts.fabric.nodes[hosts.host_faults[1].node].name, "h3");
  const auto behind =
      small_with("faults: [{at: 1us, node: 'tor2:*', set: slow_receiver}, {at: 2us, node: h3..h4, set: clear}]");
  EXPECT_EQ(behind.host_faults.size(), 4u);
  const auto profiles = small_with(
      "profiles: {default: {}, other: {queue_limit: 1MiB}}\nfaults: [{at: 1us, node: tor1..tor2, profile: other}]");
  EXPECT_EQ(profiles.faults.size(), 2u);
}

TEST(HostSets, ClearingALinkClearsTheNamedEndAlone) {
  EXPECT_TRUE(small_with("faults: [{at: 1us, link: 'tor1:Ethernet0', set: clear}]").host_faults.empty());
  EXPECT_EQ(small_with("faults: [{at: 1us, link: 'h1:eth0', set: clear}]").host_faults.size(), 1u);
}

TEST(HostSets, ThatNameNobodySayWhoIsNearest) {
  EXPECT_EQ(complaints_about(with_fabric("workload: [{name: w, pattern: ring, hosts: [h1..h5]}]\n")),
            (Complaints{"4 workload[0].hosts[0]: there is no node 'h5': did you mean 'h1'?"}));
  EXPECT_EQ(complaints_about(with_fabric("workload: [{name: w, pattern: ring, hosts: ['tro1:*']}]\n")),
            (Complaints{"4 workload[0].hosts[0]: there is no node 'tro1': did you mean 'tor1'?"}));
  EXPECT_EQ(complaints_about(with_fabric("faults: [{at: 1us, node: 'rail 1', set: down}]\n")),
            (Complaints{"4 faults[0].node: there is no rail '1': no server has several NICs"}));
  EXPECT_EQ(complaints_about(with_fabric("faults: [{at: 1us, node: 'spine*', set: storm}]\n")),
            (Complaints{"4 faults[0].node: no host's name is like 'spine*'"}));
  const std::string hpn = "name: t\nfabric: {kind: hpn, size: published-segment, servers_per_segment: 2}\n";
  EXPECT_EQ(complaints_about(hpn + "workload: [{name: w, pattern: ring, hosts: ['server s2-*']}]\n"),
            (Complaints{"3 workload[0].hosts[0]: there is no server 's2-*': did you mean 's1-*'?"}));
  EXPECT_EQ(complaints_about(hpn + "workload: [{name: w, pattern: ring, hosts: ['s2-*-nic1']}]\n"),
            (Complaints{"3 workload[0].hosts[0]: no host's name is like 's2-*-nic1': did you mean 's1-*-nic1'?"}));
}

TEST(HostSets, WrittenAHundredThousandTimesAreRefusedInTime) {
  std::string list = "&all 'h*'";
  for (int i = 0; i < 200'000; ++i) list += ", *all";
  std::string text =
      "name: t\nfabric: {kind: leaf-spine, tors: 100, spines: 1, hosts_per_tor: 100, host_link: {rate: 1Gbps}, "
      "fabric_link: {rate: 1Gbps}}\nworkload: [{name: w, pattern: ring, hosts: [" +
      list + "]}]\n";
  const Complaints found = complaints_about(text);
  ASSERT_GE(found.size(), 1u);
  EXPECT_NE(found[0].find("cost too much"), std::string::npos) << found[0];
}

}  // namespace
}  // namespace softspine::control
