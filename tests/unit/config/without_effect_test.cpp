// SPDX-License-Identifier: Apache-2.0
// What a file says in vain is told with its place; what has an effect is not.
#include <gtest/gtest.h>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::read_well;
using tests::with_fabric;

Complaints warnings_about(std::string_view rest) {
  Complaints out;
  for (const Error& warning : read_well(with_fabric(rest)).warnings) {
    EXPECT_EQ(warning.file, "t.yaml");
    out.push_back(std::to_string(warning.line) + " " + warning.path + ": " + warning.message);
  }
  return out;
}
Complaints none() {
  return {};
}

TEST(WithoutEffect, AProfileThatNobodyHasIsNamed) {
  EXPECT_EQ(warnings_about("profiles:\n  wide: {base: lossless}\n"),
            (Complaints{"5 profiles.wide: no switch, role, fault or other profile in use names it: it has no effect, "
                        "unless `softspine profile` puts it in force"}));
  EXPECT_EQ(warnings_about("profiles:\n  a: {base: lossless}\n  b: {base: a}\nroles: {tor: b}\n"), none()) << "a base";
  EXPECT_EQ(warnings_about("profiles: {default: {base: lossless}, w: {base: lossless}}\n"
                           "faults: [{at: 1ms, node: tor1, profile: w}]\n"),
            none())
      << "a fault's";
  EXPECT_EQ(warnings_about("profiles: {a: {base: b}, b: {}}\n").size(), 2u) << "a base of what nobody has";
}

// Down for 15 us and up for 25: seen by whichever detection is the quicker one, if it takes no longer.
TEST(WithoutEffect, AFlapThatItsDetectionDoesNotSeeIsTold) {
  const auto said = [](const std::string& detection) {
    const Complaints out = warnings_about(
        "faults: [{at: 10us, link: \"tor1:Ethernet4\", set: down, flap: {period: 40us, down: 15us, count: 2}}]\n" +
        detection);
    return out.empty() ? std::string() : out.front();
  };
  const auto unseen = [](const std::string& takes) {
    return "4 faults[0].flap: is faster than its detection, which takes " + takes +
           ": routes do not follow the link down";
  };
  EXPECT_EQ(said(""), "");
  EXPECT_EQ(said("detection: {none: true}\n"), "");
  EXPECT_EQ(said("detection: {loss_of_signal: 15us}\n"), "");
  EXPECT_EQ(said("detection: {loss_of_signal: 20us}\n"), unseen("20us"));
  EXPECT_EQ(said("detection: {bfd: {interval: 5us, multiplier: 3}}\n"), "");
  EXPECT_EQ(said("detection: {bfd: {interval: 10us, multiplier: 3}}\n"), unseen("30us"));
  EXPECT_EQ(said("detection: {loss_of_signal: 20us, bfd: {interval: 5us, multiplier: 3}}\n"), "");
  EXPECT_EQ(said("detection: {loss_of_signal: 40us, bfd: {interval: 10us, multiplier: 3}}\n"), unseen("30us"));
}

TEST(WithoutEffect, ARoleThatNoSwitchHasIsNamed) {
  EXPECT_EQ(warnings_about("roles: {core: lossless}\n"),
            (Complaints{"4 roles.core: has no effect: no switch has this role"}));
}

TEST(WithoutEffect, KeysOfGroupsThatAnotherKeySwitchesOffAreNamed) {
  const auto of = [](const std::string& groups) {
    return warnings_about("profiles: {default: {groups: {" + groups + "}}}\n");
  };
  EXPECT_EQ(
      of("mode: spray, kind: resilient"),
      (Complaints{"4 profiles.default.groups.kind: has no effect: a link drawn for each packet has no flows that a "
                  "resilient group could keep where they are"}));
  EXPECT_EQ(of("buckets: 64"),
            (Complaints{"4 profiles.default.groups.buckets: has no effect: they are a resilient group's"}));
  EXPECT_EQ(of("gap: 1us"), (Complaints{"4 profiles.default.groups.gap: has no effect: the mode is hash"}));
  EXPECT_EQ(of("mode: spray, flowlets: 64"),
            (Complaints{"4 profiles.default.groups.flowlets: has no effect: the mode is spray"}));
  EXPECT_EQ(of("mode: pinned, weights: {spine1: 2}"),
            (Complaints{"4 profiles.default.groups.weights: has no effect: the mode is pinned"}));
  EXPECT_EQ(of("mode: flowlet, gap: 1us, flowlets: 64"), none());
  EXPECT_EQ(of("kind: resilient, buckets: 64"), none());
  EXPECT_EQ(of("mode: spray"), none());
}

// Whichever of the two keys the profile itself says is named, if the other is its base's.
TEST(WithoutEffect, AResilientGroupThatSpraysIsToldAtTheKeyThatTheProfileSays) {
  const auto of = [](const std::string& base, const std::string& own) {
    return warnings_about("profiles:\n  base: {groups: {" + base + "}}\n  own: {base: base, groups: {" + own +
                          "}}\nroles: {tor: own}\n");
  };
  const auto told_at = [](const std::string& key) {
    return Complaints{"6 profiles.own.groups." + key +
                      ": has no effect: a link drawn for each packet has no flows that a resilient group could keep "
                      "where they are"};
  };
  EXPECT_EQ(of("kind: resilient", "mode: spray"), told_at("mode"));
  EXPECT_EQ(of("mode: spray", "kind: resilient"), told_at("kind"));
  EXPECT_EQ(of("mode: spray", "kind: resilient, mode: spray"), told_at("kind"));
  EXPECT_EQ(of("mode: spray", "kind: resilient, mode: hash"), none());
  EXPECT_EQ(of("kind: resilient", "mode: flowlet"), none());
}

TEST(WithoutEffect, NeighboursOfAProfileThatOnlySpinesHaveAreNamed) {
  const std::string ages = "neighbours: {fdb_aging_time: 1s}";
  const Complaints no_hosts{
      "5 profiles.p.neighbours: has no effect: no ToR has this profile, and other switches know no hosts"};
  EXPECT_EQ(warnings_about("profiles:\n  p: {" + ages + "}\nroles: {aggregation: p}\n"), no_hosts);
  EXPECT_EQ(warnings_about("profiles:\n  p: {" + ages + "}\n  own: {base: p}\nroles: {aggregation: own}\n"), no_hosts);
  EXPECT_EQ(warnings_about("profiles:\n  p: {" + ages + "}\nroles: {tor: p, aggregation: p}\n"), none());
  EXPECT_EQ(warnings_about("profiles:\n  p: {" + ages + "}\n  own: {base: p}\nroles: {tor: own}\n"), none());
  EXPECT_EQ(warnings_about("profiles:\n  p: {" + ages + "}\nfaults: [{at: 1ms, node: tor1, profile: p}]\n"), none());
  EXPECT_EQ(warnings_about("profiles:\n  p: {" + ages + "}\n").size(), 1u) << "that nobody has it, and no more";
}

TEST(WithoutEffect, AWatchdogThatLooksTooRarelyOrAfterWhatIsNeverPausedIsNamed) {
  const auto of = [](const std::string& tables, const char* base = "lossless") {
    return warnings_about(std::string("profiles:\n  default:\n    base: ") + base + "\n" + tables);
  };
  EXPECT_EQ(
      of("    PFC_WD: {GLOBAL: {POLL_INTERVAL: 2ms, action: drop, detection_time: 1ms, restoration_time: 2ms}}\n"),
      (Complaints{"7 profiles.default.PFC_WD.GLOBAL.detection_time: detection_time, 1ms, is shorter than "
                  "POLL_INTERVAL, 2ms: it is told of after that"}));
  EXPECT_EQ(of("    PFC_WD: {GLOBAL: {POLL_INTERVAL: 2ms, action: drop, detection_time: 2ms, restoration_time: 1ms}}\n")
                .size(),
            1u);
  EXPECT_EQ(
      of("    PFC_WD: {GLOBAL: {POLL_INTERVAL: 1ms, action: drop, detection_time: 1ms, restoration_time: 1ms}}\n"),
      none());
  EXPECT_EQ(of("    PFC_WD: {GLOBAL: {action: alert, waiting: keep, rx_counter: while_enabled}}\n"),
            (Complaints{"7 profiles.default.PFC_WD.GLOBAL.waiting: has no effect: no port's action is drop",
                        "7 profiles.default.PFC_WD.GLOBAL.rx_counter: has no effect: no port's action is drop"}));
  EXPECT_EQ(of("    PFC_WD: {GLOBAL: {action: drop, waiting: keep, rx_counter: while_enabled}}\n"), none());
  EXPECT_EQ(of("    PFC_WD: {GLOBAL: {action: drop}}\n    PORT_QOS_MAP: {global: {pfcwd_sw_enable: [3, 5]}}\n"),
            (Complaints{"8 profiles.default.PORT_QOS_MAP.global.pfcwd_sw_enable: the watchdog looks after priority 5, "
                        "which is not in pfc_enable: it is never paused"}));
  EXPECT_EQ(
      of("    PFC_WD: {GLOBAL: {action: drop}}\n    PORT_QOS_MAP: {global: {pfc_enable: []}}\n"),
      (Complaints{"5 profiles.default: PFC_WD has no effect: no priority is in pfc_enable, so none is ever paused"}));
}

TEST(WithoutEffect, AStormThatNobodyHearsIsNamed) {
  EXPECT_EQ(
      warnings_about("faults: [{at: 1ms, node: h1, set: storm}]\n"),
      (Complaints{"4 faults[0].set: has no effect: tor1:Ethernet0 obeys no pause of these priorities (pfc_enable)"}));
  EXPECT_EQ(
      warnings_about("roles: {tor: lossless}\nfaults: [{at: 1ms, node: h1, set: storm, priorities: [2]}]\n").size(),
      1u);
  EXPECT_EQ(warnings_about("roles: {tor: lossless}\nfaults: [{at: 1ms, node: h1, set: storm, priorities: [2, 3]}]\n"),
            none());
  EXPECT_EQ(
      warnings_about("faults: [{at: 1ms, link: 'tor1:Ethernet8', set: deaf}]\n"),
      (Complaints{"4 faults[0].set: has no effect: tor1:Ethernet8 is never paused in these priorities (pfc_enable)"}));
  EXPECT_EQ(warnings_about("roles: {tor: lossless, aggregation: lossless}\n"
                           "faults: [{at: 1ms, link: 'tor1:Ethernet8', set: deaf, priorities: [3]}]\n"),
            none());
}

// A deaf port misses what it would have obeyed, and what the other end says.
TEST(WithoutEffect, ADeafPortThatWouldNotHaveObeyedIsNamed) {
  const auto deaf = [](const std::string& port, const std::string& roles, const std::string& more = "") {
    return warnings_about("roles: {" + roles + "}\nfaults: [{at: 1ms, link: '" + port + "', set: deaf" + more + "}]\n");
  };
  const auto never = [](const std::string& port) {
    return Complaints{"5 faults[0].set: has no effect: " + port + " is never paused in these priorities (pfc_enable)"};
  };
  EXPECT_EQ(deaf("spine1:Ethernet0", "tor: lossless"), never("spine1:Ethernet0")) << "tor1 pauses; spine1 never obeys";
  EXPECT_EQ(deaf("spine1:Ethernet0", "aggregation: lossless"), never("spine1:Ethernet0")) << "tor1 never pauses";
  EXPECT_EQ(deaf("spine1:Ethernet0", "tor: lossless, aggregation: lossless"), none());
  EXPECT_EQ(deaf("spine1:Ethernet0", "tor: lossless, aggregation: lossless", ", priorities: [2]"),
            never("spine1:Ethernet0"));
  EXPECT_EQ(deaf("h1:eth0", "tor: lossless"), none()) << "a host obeys every pause";
  EXPECT_EQ(deaf("h1:eth0", "aggregation: lossless"), never("h1:eth0"));
  EXPECT_EQ(deaf("tor1:Ethernet0", "tor: lossless"), none()) << "a host that fails pauses";
  EXPECT_EQ(deaf("tor1:Ethernet0", "aggregation: lossless"), never("tor1:Ethernet0"));
}

TEST(WithoutEffect, AFaultThatChangesNothingIsNamed) {
  EXPECT_EQ(warnings_about("faults:\n  - {at: 1ms, node: spine1, set: up}\n"),
            (Complaints{"5 faults[0].set: has no effect: up it is already"}));
  EXPECT_EQ(warnings_about("faults:\n  - {at: 2ms, node: spine1, set: up}\n  - {at: 1ms, node: spine1, set: down}\n"),
            none())
      << "by their instants, not by their lines";
  EXPECT_EQ(warnings_about(
                "faults:\n  - {at: 1ms, node: spine1, set: down}\n  - {at: 2ms, link: 'tor1:Ethernet8', set: down}\n"),
            (Complaints{"6 faults[1].set: has no effect: down it is already"}));
  EXPECT_EQ(warnings_about("faults:\n  - {at: 1ms, node: h1, set: clear}\n"),
            (Complaints{"5 faults[0].set: has no effect: nothing has failed there before"}));
  EXPECT_EQ(
      warnings_about("faults:\n  - {at: 1ms, node: h1, set: slow_receiver}\n  - {at: 2ms, node: h1, set: clear}\n"),
      none());
  EXPECT_EQ(warnings_about("faults:\n  - {at: 1ms, node: tor1, profile: default}\n"),
            (Complaints{"5 faults[0].profile: has no effect: tor1 has default already"}));
}

// `up` repairs what is drained or dead, once. What is down is not down anew.
TEST(WithoutEffect, ALinkThatIsRepairedOrDownAlreadyIsNamed) {
  const auto of = [](const std::vector<std::string>& states) {
    std::string faults = "faults:\n";
    for (size_t i = 0; i < states.size(); ++i)
      faults += "  - {at: " + std::to_string(i + 1) + "ms, link: 'tor1:Ethernet8', set: " + states[i] + "}\n";
    return warnings_about(faults);
  };
  const auto already = [](size_t fault, const std::string& state) {
    return Complaints{std::to_string(5 + fault) + " faults[" + std::to_string(fault) +
                      "].set: has no effect: " + state + " it is already"};
  };
  EXPECT_EQ(of({"drained", "up"}), none());
  EXPECT_EQ(of({"drained", "up", "up"}), already(2, "up"));
  EXPECT_EQ(of({"dead", "down", "up", "up"}), already(3, "up"));
  EXPECT_EQ(of({"down", "drained", "down"}), already(2, "down"));
  EXPECT_EQ(of({"down", "up", "down", "up"}), none());
}

// Which links a plane or a rack has is not known here: after such a fault nothing is said of links.
TEST(WithoutEffect, NothingIsSaidOfLinksAfterARackHasFailed) {
  const std::string up = "  - {at: 2ms, link: 'tor1:Ethernet0', set: up}\n";
  EXPECT_EQ(warnings_about("faults:\n" + up), (Complaints{"5 faults[0].set: has no effect: up it is already"}));
  EXPECT_EQ(warnings_about("faults:\n  - {at: 1ms, rack: tor1, set: down}\n" + up), none());
}

TEST(WithoutEffect, ARateAboveTheLinksIsNamed) {
  const auto of = [](const std::string& keys) {
    return warnings_about("workload: [{name: w, pattern: pairs, from: [h1], to: [h3], " + keys + "}]\n");
  };
  EXPECT_EQ(of("rate: 101Gbps"),
            (Complaints{"4 workload[0].rate: 101Gbps is more than the link of h1 has, 100Gbps: its "
                        "flows get no more than that"}));
  EXPECT_EQ(of("rate: 100Gbps"), none());
  EXPECT_EQ(of("rate: 101Gbps, qps: 4").size(), 1u) << "its queue pairs share one port";
}

TEST(WithoutEffect, ARateOfLessThanAMegabitForAQueuePairIsRefused) {
  EXPECT_EQ(tests::complaints_about(with_fabric("workload: [{name: w, pattern: ring, rate: 3Mbps, qps: 4}]\n")),
            (Complaints{"4 workload[0].rate: is less than 1Mbps for each of its queue pairs"}));
}

TEST(WithoutEffect, ANicThatChangesNothingIsNamed) {
  const auto of = [](const std::string& nic) {
    return warnings_about("roles: {tor: lossless}\ntopology: {nodes: {h1: {edge: {pcap: {in: x}}, nic: {" + nic +
                          "}}}}\n");
  };
  EXPECT_EQ(of("rate: 100Gbps"), (Complaints{"5 topology.nodes.h1.nic.rate: has no effect: the link has 100Gbps"}));
  EXPECT_EQ(of("pfc_enable: [3, 5]"),
            (Complaints{"5 topology.nodes.h1.nic.pfc_enable: priority 5 is not in pfc_enable of "
                        "tor1:Ethernet0: neither pauses the other for it"}));
  EXPECT_EQ(of("rate: 50Gbps, pfc_enable: [3]"), none());
}

TEST(WithoutEffect, CreditWhereNoPriorityIsLosslessIsNamed) {
  const std::string fabric =
      "name: small\nfabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2,\n"
      "  host_link: {rate: 100Gbps, flow_control: credit}, fabric_link: {rate: 400Gbps}}\n";
  const auto warnings = read_well(fabric).warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(
      warnings[0].message,
      "flow_control: credit has no effect between tor1:Ethernet0 and h1:eth0: no priority is in pfc_enable there");
  EXPECT_TRUE(read_well(fabric + "roles: {tor: lossless}\n").warnings.empty());
}

}  // namespace
}  // namespace softspine::control
