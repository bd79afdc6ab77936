// SPDX-License-Identifier: Apache-2.0
// What a DSCP gets on each link, which one a workload takes, and what is said of those that may be dropped. That a DSCP
// called lossless loses nothing, and one that isn't does, is held by tests/scenario/run/lossless_trap_test.
#include "control/compile/service.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "control/compile/review.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::read_well;
using tests::with_fabric;

constexpr const char* kLossless = "roles: {tor: lossless, aggregation: lossless}\n";

std::string with(std::string_view profiles, std::string_view workload) {
  return with_fabric(std::string(profiles) + "workload: [{name: w, " + std::string(workload) + "}]\n");
}
uint8_t dscp_of(std::string_view profiles, std::string_view workload = "pattern: permutation") {
  return read_well(with(profiles, workload)).workloads.at(0).dscp;
}
Complaints told(const Errors& errors) {
  Complaints out;
  for (const Error& error : errors) out.push_back(std::to_string(error.line) + " " + error.path + ": " + error.message);
  return out;
}
Complaints warnings_of(std::string_view profiles, std::string_view workload) {
  return told(review(read_well(with(profiles, workload))).warnings);
}

TEST(Service, AWorkloadTakesTheLeastDscpThatIsLosslessOnAllItsWays) {
  EXPECT_EQ(dscp_of(kLossless), 3);
  EXPECT_EQ(dscp_of("profiles: {default: {base: lossless, PORT_QOS_MAP: {global: {pfc_enable: [4]}}}}\n"), 4);
  EXPECT_EQ(dscp_of(kLossless, "pattern: permutation, dscp: 26"), 26) << "what the file says, holds";
  EXPECT_EQ(dscp_of(kLossless, "pattern: permutation, dscp: 0"), 0);
  EXPECT_EQ(dscp_of(""), 26) << "nothing is lossless";
  EXPECT_EQ(dscp_of("roles: {tor: azure, aggregation: azure}\n"), 26) << "pauses without buffers";
}

TEST(Service, OnlyTheSwitchesOnTheWayCount) {
  EXPECT_EQ(dscp_of("roles: {tor: lossless}\n"), 26) << "the spine is not";
  EXPECT_EQ(dscp_of("roles: {tor: lossless}\n", "pattern: pairs, from: [h1], to: [h2]"), 3) << "within a rack";
  EXPECT_EQ(dscp_of("roles: {tor: lossless}\n", "pattern: incast, from: [h2, h3], to: h1"), 26);
}

TEST(Service, EachShippedLosslessProfileHasThree) {
  for (const char* name : {"lossless", "sonic-tomahawk-100g-5m", "sonic-tomahawk-100g-40m", "sonic-tomahawk-100g-300m",
                           "sonic-tomahawk5-100g", "sonic-tomahawk5-800g", "sonic-sn4700-100g-5m",
                           "sonic-sn4700-100g-40m", "sonic-sn4700-100g-300m"}) {
    EXPECT_EQ(dscp_of("roles: {tor: " + std::string(name) + ", aggregation: " + name + "}\n"), 3) << name;
  }
}

TEST(Service, AcknowledgementsFollowTheDataUnlessToldOtherwise) {
  const auto of = [](std::string_view keys) {
    return read_well(with(kLossless, "pattern: ring, transport: rc" + std::string(keys))).workloads.at(0).transport;
  };
  EXPECT_EQ(of("").ack_dscp, 3);
  EXPECT_EQ(of(", ack_dscp: 48").ack_dscp, 48);
}

TEST(Service, HostsLinkedBackToBackKeepTheUsualDscp) {
  const Testbed testbed = read_well(
      "name: t\ntopology:\n  nodes: {a: {kind: host}, b: {kind: host}, t: {kind: switch}, c: {kind: host}, d: {kind: "
      "host}}\n"
      "  links: [{endpoints: [a, b], rate: 1Gbps}, {endpoints: [c, t], rate: 1Gbps}, {endpoints: [d, t], rate: "
      "1Gbps}]\n"
      "profiles: {default: {base: lossless}}\nworkload: [{name: w, pattern: pairs, from: [a], to: [b]}]\n");
  EXPECT_EQ(testbed.workloads.at(0).dscp, 26);
  EXPECT_TRUE(review(testbed).warnings.empty());
  EXPECT_EQ(review(testbed).workloads.at(0).links.size(), 1u);
}

// h1 → tor1 → spine1 → tor2 → h3, by SONiC's AZURE maps.
TEST(Service, SaysQueueGroupAndPriorityOfEachLink) {
  const Testbed testbed = read_well(with(kLossless, "pattern: pairs, from: [h1], to: [h3]"));
  const Review found = review(testbed);
  std::vector<std::string> links;
  for (const auto& [sender, service] : found.workloads.at(0).links) {
    const auto text = [](std::optional<uint8_t> number) { return number ? std::to_string(*number) : "-"; };
    links.push_back(testbed.fabric.name_of(sender) + " q" + text(service.queue) + " pg" + text(service.group) + " p" +
                    std::to_string(service.priorities));
    EXPECT_EQ(service.loss, Loss::kNothing);
  }
  std::ranges::sort(links);
  EXPECT_EQ(links, (std::vector<std::string>{"h1:eth0 q- pg3 p8", "spine1:Ethernet4 q3 pg3 p8",
                                             "tor1:Ethernet8 q3 pg3 p8", "tor2:Ethernet0 q3 pg- p0"}));
}

TEST(Service, WarnsOfADscpThatMayBeDroppedWhereAnotherIsLossless) {
  EXPECT_EQ(warnings_of(kLossless, "pattern: pairs, from: [h1], to: [h3], dscp: 26"),
            (Complaints{
                "5 workload[0].dscp: DSCP 26 may be dropped, from tor1:Ethernet8 to spine1:Ethernet0: priority group 0 "
                "of profile lossless has no headroom (xoff); on all its ways DSCP 3 and 4 are lossless"}));
  EXPECT_TRUE(warnings_of(kLossless, "pattern: permutation, dscp: 4").empty());
  EXPECT_TRUE(warnings_of("", "pattern: permutation").empty()) << "nothing here is meant to be lossless";
}

TEST(Service, WarnsOfATierThatIsNotLosslessWhileOthersAre) {
  EXPECT_EQ(
      warnings_of("roles: {tor: lossless}\n", "pattern: pairs, from: [h1], to: [h3], dscp: 3"),
      (Complaints{"5 workload[0].dscp: DSCP 3 may be dropped: no DSCP is lossless on all its ways; 3 is on some, not "
                  "from tor1:Ethernet8 to spine1:Ethernet0: profile default has no BUFFER_* tables: nothing is "
                  "paused"}));
}

TEST(Service, WarnsOfPausesThatNobodyObeys) {
  const Complaints found = warnings_of(
      "profiles: {deaf: {base: lossless, PORT_QOS_MAP: {global: {pfc_enable: [3]}, Ethernet8: {pfc_enable: [4]}}}}\n"
      "roles: {tor: deaf, aggregation: lossless}\n",
      "pattern: pairs, from: [h1], to: [h3], dscp: 3");
  EXPECT_TRUE(std::ranges::any_of(found, [](const std::string& text) {
    return text.contains("tor1 does not obey the pauses that priority group 3 of profile lossless asks for");
  })) << testing::PrintToString(found);
}

// 26 is class 3 here; by SONiC's AZURE map it would be class 1, which is not paused.
TEST(Service, AHostObeysPausesByTheMapOfTheSwitchBeforeIt) {
  const std::string mapped =
      "profiles: {mapped: {base: lossless, DSCP_TO_TC_MAP: {M: {26: 3}}}}\nroles: {tor: mapped, aggregation: mapped}\n";
  EXPECT_EQ(warnings_of(mapped, "pattern: pairs, from: [h1], to: [h3], dscp: 26"), Complaints{});
  const Review found = review(read_well(with(mapped, "pattern: pairs, from: [h1], to: [h3], dscp: 26")));
  for (const auto& [sender, service] : found.workloads.at(0).links) EXPECT_EQ(service.loss, Loss::kNothing);
}

TEST(Service, WhereOnlyQueuesHaveAPoolNoGroupHasHeadroom) {
  const Testbed testbed = read_well(
      with("profiles:\n  default:\n    BUFFER_POOL: {out: {type: egress, size: 1MiB}}\n"
           "    BUFFER_PROFILE: {queue: {pool: out, dynamic_th: 1}}\n    BUFFER_QUEUE: {0-7: {profile: queue}}\n",
           "pattern: pairs, from: [h1], to: [h3], dscp: 3"));
  const Review found = review(testbed);
  std::map<std::string, Loss> losses;
  for (const auto& [sender, service] : found.workloads.at(0).links) {
    losses[testbed.fabric.name_of(sender)] = service.loss;
    EXPECT_EQ(service.group.has_value(), service.loss == Loss::kNoHeadroom) << "into a switch, all but the last";
    EXPECT_EQ(service.priorities, 0) << "nobody is paused";
  }
  EXPECT_EQ(losses, (std::map<std::string, Loss>{{"h1:eth0", Loss::kNoHeadroom},
                                                 {"tor1:Ethernet8", Loss::kNoHeadroom},
                                                 {"spine1:Ethernet4", Loss::kNoHeadroom},
                                                 {"tor2:Ethernet0", Loss::kNothing}}));
}

TEST(Service, WarnsOfAQueueThatDropsBeforeAnybodyIsPaused) {
  const Complaints found = warnings_of(
      "profiles: {default: {base: lossless, BUFFER_PROFILE: {egress_lossless_profile: {static_th: 100KiB}}}}\n",
      "pattern: pairs, from: [h1], to: [h3], dscp: 3");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].contains("queue 3 of profile default may hold less than comes in")) << found[0];
}

TEST(Service, WarnsOfADscpThatNoMapLists) {
  EXPECT_EQ(warnings_of("profiles: {default: {DSCP_TO_TC_MAP: {M: {3: 3, 4: 4}}}}\n", "pattern: ring, dscp: 7"),
            (Complaints{
                "5 workload[0].dscp: DSCP 7 is not in the DSCP_TO_TC_MAP of profile default: it is traffic class 0 at "
                "spine1"}));
  EXPECT_TRUE(
      warnings_of("profiles: {default: {DSCP_TO_TC_MAP: {M: {3: 3, 4: 4}}}}\n", "pattern: ring, dscp: 4").empty());
}

TEST(Service, WarnsOfDcqcnWhereNothingIsMarked) {
  EXPECT_EQ(
      warnings_of("", "pattern: ring, transport: rc, congestion_control: dcqcn_paper"),
      (Complaints{
          "4 workload[0]: congestion_control has no effect: no queue on its ways marks (WRED_PROFILE with ecn)"}));
  EXPECT_TRUE(warnings_of(kLossless, "pattern: ring, transport: rc, congestion_control: dcqcn_paper").empty());
}

TEST(Service, WarnsOfDctcpWhereNothingIsMarked) {
  const Complaints found = warnings_of("", "pattern: ring, transport: rc, congestion_control: dctcp");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].contains("no queue on its ways marks")) << found[0];
  EXPECT_TRUE(warnings_of(kLossless, "pattern: ring, transport: rc, congestion_control: dctcp").empty());
}

TEST(Service, WarnsOfHpccWhereASwitchWritesNoTelemetry) {
  const std::string hpcc = "pattern: ring, transport: rc, congestion_control: hpcc";
  const Complaints found = warnings_of("", hpcc);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].contains("profile default has no in_band_telemetry")) << found[0];
  EXPECT_TRUE(warnings_of("profiles: {default: {in_band_telemetry: true}}\n", hpcc).empty());
}

TEST(Service, WarnsOfHpccWhereTelemetryHasNoWordForARate) {
  const Testbed testbed = read_well(
      "name: t\nprofiles: {default: {in_band_telemetry: true}}\ntopology:\n  nodes: {a: {kind: switch}, h1: {kind: "
      "host}, "
      "h2: {kind: host}}\n  links: [{endpoints: [h1, a], rate: 100Gbps}, {endpoints: [h2, a], rate: 56Gbps}]\n"
      "workload: [{name: w, pattern: pairs, from: [h1], to: [h2], transport: rc, congestion_control: hpcc}]\n");
  const Complaints found = told(review(testbed).warnings);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].contains("telemetry has no word for its rate")) << found[0];
}

TEST(Service, WarnsOfCnpsThatWredDrops) {
  const Complaints found =
      warnings_of(kLossless, "pattern: ring, transport: rc, congestion_control: dcqcn_paper, cnp_dscp: 4");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].contains("CNPs (DSCP 4) are not ECN-capable")) << found[0];
}

TEST(Service, HostsWithoutAWayToEachOtherAreAnErrorAndByChanceAWarning) {
  const std::string apart =
      "name: t\ntopology:\n  nodes: {a: {kind: switch}, b: {kind: switch}, h1: {kind: host}, h2: {kind: host}, h3: "
      "{kind: host}}\n"
      "  links: [{endpoints: [h1, a], rate: 1Gbps}, {endpoints: [h2, b], rate: 1Gbps}, {endpoints: [h3, a], rate: "
      "1Gbps}]\n";
  const auto of = [&](const std::string& workload) {
    return review(read_well(apart + "workload: [{name: w, " + workload + "}]\n"));
  };
  EXPECT_EQ(told(of("pattern: pairs, from: [h1], to: [h2]").errors),
            (Complaints{"5 workload[0]: h1 has no way to h2, by links that are all up"}));
  EXPECT_EQ(told(of("pattern: all_to_all").errors),
            (Complaints{"5 workload[0]: h1 has no way to h2 (nor have 3 more pairs), by links that are all up"}));
  EXPECT_TRUE(of("pattern: pairs, from: [h1], to: [h3]").errors.empty());
  const Review drawn = of("pattern: permutation");
  EXPECT_TRUE(drawn.errors.empty());
  EXPECT_EQ(drawn.warnings.size(), 1u);
}

TEST(Service, TellsHostsOutsideWhichDscpsAreLossless) {
  const auto of = [](const std::string& guest) {
    return review(
        read_well(with_fabric("roles: {tor: lossless, aggregation: lossless}\ntopology:\n  nodes:\n    h1: {guest: {" +
                              guest + "}}\n    h3: {guest: {}}\n")));
  };
  EXPECT_EQ(of("").outside.lossless_dscps, (std::vector<uint8_t>{3, 4}));
  EXPECT_TRUE(of("").outside.drops_early);
  EXPECT_EQ(
      told(of("run: ib_write_bw h3").warnings),
      (Complaints{
          "7 topology.nodes.h1: its command names no --tclass: RDMA tools then send DSCP 0, which may be dropped; "
          "lossless are 3 and 4"}));
  EXPECT_EQ(told(of("run: ib_write_bw --tclass=106 h3").warnings),
            (Complaints{"7 topology.nodes.h1: --tclass 106 is DSCP 26, which may be dropped; lossless are 3 and 4"}));
  EXPECT_EQ(
      told(of("run: ib_write_bw --tclass 12 h3").warnings),
      (Complaints{"7 topology.nodes.h1: --tclass 12 is not ECN-capable, and WRED drops what is not: 14 is ECT(0)"}));
  EXPECT_TRUE(of("run: ib_write_bw --tclass 14 h3").warnings.empty());
  EXPECT_EQ(
      told(of("run: ib_write_bw --tclass 12 h3}, nic: {dscp: 3").warnings),
      (Complaints{"7 topology.nodes.h1: --tclass 12 is not ECN-capable, and WRED drops what is not: 14 is ECT(0)"}));
  EXPECT_TRUE(of("run: ib_write_bw --tclass 2 h3}, nic: {dscp: 3").warnings.empty());
  EXPECT_EQ(told(of("run: ib_write_bw h3}, nic: {dscp: 3").warnings),
            (Complaints{"7 topology.nodes.h1: its command names no --tclass: RDMA tools then send what is not "
                        "ECN-capable, and WRED drops that; --tclass 2 is ECT(0)"}));
}

TEST(Service, WarnsOfHostsOutsideWhosePacketsWredMayDrop) {
  const auto of = [](const std::string& profile, const std::string& profiles) {
    return told(review(read_well(with_fabric(
                           "roles: {tor: " + profile + ", aggregation: " + profile +
                           "}\ntopology:\n  nodes:\n    h1: {edge: {tap: {name: t1}}}\n    h3: {edge: {tap: {name: "
                           "t3}}}\n" +
                           profiles)))
                    .warnings);
  };
  const Complaints found = of("lossless", "");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(
      found[0].contains("DSCP 3 and 4 is lossless only for what it sends ECN-capable (and 1 more hosts): WRED of"))
      << found[0];
  EXPECT_EQ(of("marks",
               "profiles: {marks: {base: lossless, WRED_PROFILE: {AZURE_LOSSLESS: {ecn: ecn_all, "
               "wred_green_enable: false, green_min_threshold: 1MB, green_max_threshold: 2MB, "
               "green_drop_probability: 5%}}}}\n"),
            Complaints{});
}

TEST(Service, ReadsTrafficClassesFromACommand) {
  EXPECT_EQ(traffic_classes_in("a --tclass 14 && b --tclass=106"), (std::vector<uint8_t>{14, 106}));
  EXPECT_TRUE(traffic_classes_in("a --tclasses 14 --tclass").empty());
  EXPECT_TRUE(traffic_classes_in("a --tclass 300").empty()) << "no byte";
}

}  // namespace
}  // namespace softspine::control
