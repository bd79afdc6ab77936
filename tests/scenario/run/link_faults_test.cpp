// SPDX-License-Identifier: Apache-2.0
// Ways in which links fail, how it is noticed, and how routes follow switch by switch: all by arithmetic, since a
// packet is sent each microsecond and as many are lost as microseconds pass.
#include <fmt/format.h>

#include "tests/scenario/run/paced_flow.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;

constexpr double kPsPerMicrosecond = 1e6;

// tor1's port to the spine that carries the flow, and that of tor2.
std::string near_port() {
  return fmt::format("\"tor1:Ethernet{}\"", 4 * used_spine());
}
std::string far_port() {
  return fmt::format("\"tor2:Ethernet{}\"", 4 * used_spine());
}

Json window_of(const std::string& fault, const std::string& more = "") {
  return run_text(paced("faults: [{at: 100us, " + fault + "}]\n" + more)).report["faults"][0]["loss_window"];
}
double lost(const Json& window) {
  return window["lost_packets"].get<double>();
}

TEST(OneWayFaults, KillOneDirectionAndLeaveTheOther) {
  const Json out = window_of("until: 300us, link: " + near_port() + ", set: one_way, direction: out");
  EXPECT_NEAR(lost(out), 200, 2);
  EXPECT_EQ(out["reasons"][0]["reason"], "vanished");
  EXPECT_TRUE(out["converged_ps"].is_null()) << "nobody notices";
  EXPECT_EQ(out["recovered_ps"].is_null(), false);
  EXPECT_EQ(lost(window_of("until: 300us, link: " + near_port() + ", set: one_way, direction: in")), 0);
}

TEST(OneWayFaults, AreSeenByBfdAndByLossOfSignalWhereTheCarrierGoes) {
  const std::string fault = "link: " + near_port() + ", set: one_way, direction: out, carrier: ";
  const Json by_bfd =
      window_of(fault + "stays", "detection: {loss_of_signal: 5us, bfd: {interval: 20us, multiplier: 3}}\n");
  EXPECT_EQ(by_bfd["detected_ps"], 160 * 1'000'000);
  EXPECT_NEAR(lost(by_bfd), 60, 2) << "three hellos; the switch beside the link repairs at once";
  const Json by_signal = window_of(fault + "goes", "detection: {loss_of_signal: 5us, bfd: {interval: 20us}}\n");
  EXPECT_NEAR(lost(by_signal), 5, 2);
  EXPECT_NEAR(lost(window_of(fault + "goes", "detection: {none: true}\n")), 900, 2) << "to the end";
}

// From 100 to 300 us without signal: routes leave after 5 us, and come back 5 us after its end.
TEST(OneWayFaults, ThatTakeTheCarrierEndWithTheirTime) {
  const int spine = used_spine();
  const std::string port = fmt::format("tor1:Ethernet{}", 4 * spine);
  const auto dark = [&](int from, int until, const char* carrier) {
    return fmt::format("{{at: {}us, until: {}us, link: \"{}\", set: one_way, direction: out, carrier: {}}}", from,
                       until, port, carrier);
  };
  const auto run = [](const std::string& faults) {
    return run_text(paced("faults: [" + faults + "]\ndetection: {loss_of_signal: 5us}\n"));
  };
  const Outcome one = run(dark(100, 300, "goes"));
  EXPECT_EQ(one.report["faults"][0]["loss_window"]["recovered_ps"], 305 * 1'000'000);
  EXPECT_NEAR(one.report["links"][port]["tx_packets"].get<double>(), 105 + 695, 3);
  // Two at once: without signal until the one that took it ends, and frames die until the last ends.
  const Outcome within = run(dark(100, 400, "goes") + ", " + dark(200, 300, "stays"));
  EXPECT_NEAR(within.report["links"][port]["tx_packets"].get<double>(), 105 + 595, 3);
  EXPECT_NEAR(static_cast<double>(within.snapshot.flows[0].missing()), 5, 2);
  const Outcome twice = run(dark(100, 300, "goes") + ", " + dark(200, 500, "goes"));
  EXPECT_NEAR(twice.report["links"][port]["tx_packets"].get<double>(), 105 + 495, 3);
}

TEST(DeadSwitches, LoseAllUntilTheirNeighboursNotice) {
  const std::string fault = fmt::format("node: spine{}, set: dead", used_spine());
  EXPECT_NEAR(lost(window_of(fault)), 900, 3) << "its links are up, and nobody asks it";
  EXPECT_NEAR(lost(window_of(fault, "detection: {bfd: {interval: 10us}}\n")), 30, 3);
}

TEST(DrainedLinks, LoseNothing) {
  const std::string fault = "link: " + near_port() + ", set: drained, links_after: 50us";
  const Outcome out = run_text(paced("faults: [{at: 100us, " + fault + "}]\n"));
  EXPECT_EQ(lost(out.report["faults"][0]["loss_window"]), 0);
  EXPECT_EQ(out.snapshot.flows[0].missing(), 0U);
  EXPECT_EQ(out.report["links"]["tor1:Ethernet" + std::to_string(4 * used_spine())]["up"], false);
  // Without the order that a drain has, what is on the link is lost.
  EXPECT_GT(lost(window_of("link: " + near_port() + ", set: down", "convergence: 20us\n")), 0);
}

TEST(DrainedLinks, GoDownOnlyAfterTheLastSwitchHasFollowed) {
  const std::string fault = "link: " + far_port() + ", set: drained, links_after: 50us";
  for (const char* followed : {"convergence: 300us\n", "convergence_per_hop: 150us\n"}) {
    const Outcome out = run_text(paced("faults: [{at: 100us, " + fault + "}]\n" + followed));
    EXPECT_EQ(out.snapshot.flows[0].missing(), 0U) << followed;
    ASSERT_EQ(out.report["faults"].size(), 2U);
    EXPECT_TRUE(out.report["faults"][0]["loss_window"]["detected_ps"].is_null()) << "nobody has to detect it";
    const bool at_once = std::string_view(followed).starts_with("convergence:");
    EXPECT_EQ(out.report["faults"][1]["at_ps"], (at_once ? 450 : 300) * 1'000'000) << followed;
    EXPECT_NE(out.report["faults"][1]["what"].get<std::string>().find("down, drained"), std::string::npos);
  }
}

// Maintenance that is drained first, and takes its links away in a second step: no route changes by that.
TEST(DrainedLinks, ThatAreDrainedAgainGoDownAfterTheTimeThatIsGivenThen) {
  const std::string port = near_port();
  for (const char* more : {"", "convergence: 40us\n"}) {
    const Outcome out =
        run_text(paced("faults: [{at: 100us, link: " + port + ", set: drained}, {at: 200us, link: " + port +
                       ", set: drained, links_after: 50us}]\n" + more));
    EXPECT_EQ(out.snapshot.flows[0].missing(), 0U);
    ASSERT_EQ(out.report["faults"].size(), 3U);
    EXPECT_EQ(out.report["faults"][1]["loss_window"]["converged_ps"], 200 * 1'000'000) << "there is nothing to follow";
    EXPECT_EQ(out.report["faults"][2]["at_ps"], 250 * 1'000'000);
    EXPECT_TRUE(out.report["faults"][2]["what"].get<std::string>().ends_with(" down, drained"));
    EXPECT_EQ(out.report["links"]["tor1:Ethernet" + std::to_string(4 * used_spine())]["up"], false);
  }
}

// Ten times as many packets as there are microseconds: one is always on its way to a switch whose routes change.
TEST(DrainedLinks, LoseNothingThatIsUnderWay) {
  const std::string fault = "faults: [{at: 100us, link: " + far_port() + ", set: drained, links_after: 20us}]\n";
  for (const char* followed : {"", "convergence: 50us\n", "convergence_per_hop: 50us\n", "detection: {none: true}\n"}) {
    std::string text = paced(fault + followed);
    text.replace(text.find("1000, mtu"), 4, "9000");
    text.replace(text.find("8.976Gbps"), 9, "90Gbps");
    const Outcome out = run_text(text);
    EXPECT_EQ(out.snapshot.flows[0].received_packets, 9000U) << followed;
    EXPECT_GT(out.report["totals"]["route_changes"], 0U);
  }
}

TEST(DrainedLinks, ForwardWhatHasNoOtherWayUntilTheyGoDown) {
  const Outcome stays = run_text(paced("faults: [{at: 100us, link: \"h2:eth0\", set: drained}]\n"));
  EXPECT_EQ(stays.snapshot.flows[0].missing(), 0U);
  const Outcome goes = run_text(paced("faults: [{at: 100us, link: \"h2:eth0\", set: drained, links_after: 100us}]\n"));
  EXPECT_NEAR(static_cast<double>(goes.snapshot.flows[0].missing()), 800, 2);
  EXPECT_EQ(goes.report["unexplained_losses"], Json::array());
}

TEST(Repair, EndsWhateverALinkHad) {
  const std::string near = near_port();
  const Outcome out = run_text(paced("faults:\n  - {at: 100us, link: " + near +
                                     ", set: one_way, direction: out}\n"
                                     "  - {at: 150us, link: " +
                                     near +
                                     ", set: dead, until: 900us}\n"
                                     "  - {at: 200us, link: " +
                                     near +
                                     ", set: drained, links_after: 10us}\n"
                                     "  - {at: 400us, link: " +
                                     near + ", set: up}\n"));
  EXPECT_NEAR(static_cast<double>(out.snapshot.flows[0].missing()), 100, 2) << "the drain ends it before the repair";
  size_t windows = 0;
  for (const Json& fault : out.report["faults"]) {
    if (!fault.contains("loss_window")) continue;
    ++windows;
    EXPECT_EQ(fault["loss_window"]["ended_ps"], 400 * 1'000'000) << fault["what"];
  }
  EXPECT_EQ(windows, 3U);
  const std::string port = "tor1:Ethernet" + std::to_string(4 * used_spine());
  EXPECT_EQ(out.report["links"][port]["up"], true);
  EXPECT_EQ(out.report["links"][port]["vanished_packets"], 100U) << "and none after";
}

TEST(Detection, TakesItsTimeAndTheSwitchBesideTheLinkRepairsByItself) {
  const Json out = window_of("link: " + near_port() + ", set: down",
                             "detection: {loss_of_signal: 40us}\nconvergence_per_hop: 300us\n");
  EXPECT_EQ(out["detected_ps"], 140 * 1'000'000);
  EXPECT_NEAR(lost(out), 40, 2) << "tor1 has another uplink, and waits for nobody";
  // tor1 and the spine, then tor2 and the other spine one hop later.
  EXPECT_GE(out["converged_ps"].get<double>(), 440 * kPsPerMicrosecond);
}

TEST(Detection, ReachesSwitchesThatAreNotBesideTheLinkHopByHop) {
  const Json out = window_of("link: " + far_port() + ", set: down",
                             "detection: {loss_of_signal: 40us}\nconvergence_per_hop: 100us\n");
  EXPECT_NEAR(lost(out), 140, 3) << "the spine has no other way; tor1 learns a hop later";
  double link_down = 0;
  double no_route = 0;
  for (const Json& each : out["reasons"]) {
    if (each["reason"] == "link_down") link_down = each["packets"].get<double>();
    if (each["reason"] == "no_route") no_route = each["packets"].get<double>();
  }
  EXPECT_NEAR(link_down, 40, 3) << "until it is noticed";
  EXPECT_NEAR(no_route, 100, 3) << "then the spine knows, and tor1 does not";
}

TEST(Detection, BeforeConvergenceOfAllOthersAtOnce) {
  const Json out =
      window_of("link: " + far_port() + ", set: down", "detection: {loss_of_signal: 40us}\nconvergence: 60us\n");
  EXPECT_NEAR(lost(out), 100, 3);
  EXPECT_EQ(out["converged_ps"], 200 * 1'000'000);
}

// Hosts back to back have no switch that could follow.
TEST(Detection, IsAllThatAFabricWithoutSwitchesNeeds) {
  for (const char* more : {"", "convergence: 20us\n", "convergence_per_hop: 20us\n"}) {
    const Outcome out = run_text(std::string(R"(
name: back-to-back
run: {duration: 2ms}
topology:
  nodes: {h1: {kind: host}, h2: {kind: host}}
  links: [{endpoints: ["h1:eth0", "h2:eth0"], rate: 100Gbps, length: 3m}]
workload: [{name: w, pattern: pairs, from: [h1], to: [h2], message: 1024B, messages: 1000, mtu: 1024, rate: 8.976Gbps}]
faults: [{at: 100us, link: "h1:eth0", set: down}, {at: 200us, link: "h1:eth0", set: up}]
)") + more);
    EXPECT_EQ(out.report["totals"]["route_changes"], 0) << more;
    EXPECT_EQ(out.report["faults"][0]["loss_window"]["ended_ps"], 200 * 1'000'000) << more;
    EXPECT_FALSE(out.report["faults"][0]["loss_window"]["recovered_ps"].is_null()) << more;
  }
}

TEST(Flaps, CostTheirDetectionEachTime) {
  const Outcome out = run_text(paced("faults: [{at: 100us, link: " + near_port() +
                                     ", set: down, flap: {period: 200us, down: 100us, count: 4}}]\n"
                                     "detection: {loss_of_signal: 20us}\n"));
  size_t begun = 0;
  for (const Json& fault : out.report["faults"]) {
    if (!fault.contains("loss_window")) continue;
    EXPECT_EQ(fault["at_ps"], static_cast<int64_t>((100 + 200 * begun) * 1'000'000));
    EXPECT_NEAR(lost(fault["loss_window"]), 20, 2);
    ++begun;
  }
  EXPECT_EQ(begun, 4u);
}

TEST(Flaps, FasterThanTheirDetectionAreNotNoticed) {
  const std::string text = paced("faults: [{at: 100us, link: " + near_port() +
                                 ", set: down, flap: {period: 40us, down: 15us, count: 5}}]\n"
                                 "detection: {loss_of_signal: 20us}\n");
  const Outcome out = run_text(text);
  EXPECT_EQ(out.report["totals"]["route_changes"], 0u);
  EXPECT_NEAR(static_cast<double>(out.snapshot.flows[0].missing()), 5 * 15, 8);
  const control::Testbed testbed = testbed_of(text);
  ASSERT_EQ(testbed.warnings.size(), 1u);
  EXPECT_NE(testbed.warnings[0].message.find("faster than its detection"), std::string::npos)
      << testbed.warnings[0].message;
}

TEST(Flaps, HaveAJitterThatFollowsFromTheSeed) {
  const auto instants = [](uint64_t seed) {
    std::vector<int64_t> out;
    const control::Testbed testbed = testbed_of(
        paced("faults: [{at: 100us, node: spine1, set: down, flap: {period: 200us, jitter: 90us, count: 6}}]\n"),
        {.seed = seed});
    for (const control::Fault& fault : testbed.faults) out.push_back(fault.at.count_ps());
    return out;
  };
  EXPECT_EQ(instants(7).size(), 12u) << "down and up";
  EXPECT_EQ(instants(7), instants(7));
  EXPECT_NE(instants(7), instants(8));
  for (size_t i = 0; i < 6; ++i) {
    const auto base = static_cast<int64_t>(100 + 200 * i) * 1'000'000;
    EXPECT_GE(instants(7)[2 * i], base);
    EXPECT_LE(instants(7)[2 * i], base + 90 * 1'000'000);
  }
}

size_t warnings_of(const std::string& faults) {
  return testbed_of(paced("faults: [" + faults + "]\n")).warnings.size();
}

TEST(Warnings, AreOfLinksThatAreSoAlreadyAlone) {
  EXPECT_EQ(warnings_of("{at: 1us, node: tor1, set: up}"), 1U);
  EXPECT_EQ(warnings_of("{at: 1us, node: tor1, set: down}, {at: 2us, node: tor1, set: down}"), 1U);
  EXPECT_EQ(warnings_of("{at: 1us, node: tor1, ports: [Ethernet4], set: down}, {at: 2us, node: tor1, set: up}"), 0U);
  EXPECT_EQ(warnings_of("{at: 1us, node: tor1, ports: [Ethernet4], set: down}, "
                        "{at: 2us, link: \"tor1:Ethernet8\", set: up}"),
            1U);
  EXPECT_EQ(warnings_of("{at: 1us, node: tor1, set: dead}, {at: 2us, node: tor1, set: down}, "
                        "{at: 3us, node: tor1, set: up}"),
            0U);
  EXPECT_EQ(warnings_of("{at: 9ms, node: tor1, set: down, flap: {period: 1ms, count: 1}}"), 0U);
  EXPECT_EQ(warnings_of("{at: 9ms, node: tor1, set: down, flap: {period: 1ms, count: 2}}"), 1U);
  EXPECT_EQ(warnings_of("{at: 1us, rack: tor1, set: down}, {at: 2us, node: tor1, set: up}"), 0U);
}

constexpr const char* kHpn =
    "name: planes\nfabric: {kind: hpn, segments: 2, servers_per_segment: 2, rails: 1, aggregations_per_plane: 2, "
    "cores: 2, "
    "core_uplinks: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n";

size_t links_of(const std::string& fault) {
  const control::Testbed testbed = testbed_of(kHpn + ("faults: [{at: 1us, " + fault + ", set: down}]\n"));
  return testbed.faults.empty() ? 0 : testbed.faults[0].links.size();
}

TEST(FaultGroups, AreLineCardsPlanesAndRacks) {
  EXPECT_EQ(links_of("node: s1-r1-tor1, ports: [Ethernet0, Ethernet4]"), 2u);
  // Two ToRs with two hosts each, joined to two aggregation switches with two uplinks each.
  EXPECT_EQ(links_of("plane: 1"), 2u * 2 + 2 * 2 + 2 * 2);
  // Both ToRs of the segment: two links of each of two hosts, two uplinks of each ToR.
  EXPECT_EQ(links_of("rack: s1-r1-tor1"), 2u * 2 + 2 * 2);
  EXPECT_EQ(links_of("rack: s1-h1-nic1"), 2u * 2 + 2 * 2);
}

TEST(LinkFaults, AreTheSameForAnyNumberOfWorkers) {
  const std::string text = kHpn + std::string(R"(
run: {duration: 4ms}
workload: [{name: w, pattern: all_to_all, message: 64KB, messages: 10, mtu: 1024, rate: 6Gbps, qps: 4, transport: rc}]
detection: {loss_of_signal: 10us, bfd: {interval: 20us}}
convergence_per_hop: 30us
faults:
  - {at: 100us, link: "s1-r1-tor1:Ethernet8", set: down, flap: {period: 200us, jitter: 50us, count: 4}}
  - {at: 150us, link: "s2-r1-tor1:Ethernet8", set: one_way, direction: in, until: 900us}
  - {at: 300us, node: p2-agg1, set: dead, carrier: goes, until: 1ms}
  - {at: 500us, node: p1-agg2, set: drained, links_after: 100us}
  - {at: 2ms, plane: 1, set: up}
)");
  std::string of_one;
  for (const uint32_t workers : {1U, 2U, 4U}) {
    control::Overrides overrides;
    overrides.workers = workers;
    const Outcome out = run_text(text, overrides);
    std::string found;
    for (const char* part : {"faults", "unexplained_losses", "flows", "links"}) found += out.report[part].dump(1);
    if (workers == 1) of_one = found;
    EXPECT_EQ(found == of_one, true) << workers << " workers";
    EXPECT_GT(out.report["totals"]["vanished_on_links"].get<uint64_t>(), 0u);
    EXPECT_EQ(out.report["totals"]["imbalances"], Json::array());
  }
}

std::string error_of(const std::string& text) {
  const auto testbed = control::parse_testbed(text, "test.yaml", {});
  return testbed ? "" : to_string(testbed.error().front());
}

TEST(FaultGroups, SayWhatIsNearestToWhatDoesNotExist) {
  const auto error = [](const std::string& fault) {
    return error_of(kHpn + ("faults: [{at: 1us, " + fault + ", set: down}]\n"));
  };
  EXPECT_NE(error("plane: 3").find("there is no plane 3: planes are 1 to 2"), std::string::npos) << error("plane: 3");
  EXPECT_NE(error("rack: s1-r1-tr1").find("s1-r1-tor1"), std::string::npos) << error("rack: s1-r1-tr1");
  EXPECT_NE(error("rack: p1-core1").find("has no hosts"), std::string::npos) << error("rack: p1-core1");
  const std::string no_port = error("node: s1-r1-tor1, ports: [Ethernet5]");
  EXPECT_NE(no_port.find("has no link at 'Ethernet5': did you mean 'Ethernet"), std::string::npos) << no_port;
  EXPECT_NE(error("node: p1-core1, plane: 1"), "");
}

TEST(FaultGroups, RefuseWhatContradictsItself) {
  const auto error = [](const std::string& fault) { return error_of(paced("faults: [{at: 1us, " + fault + "}]\n")); };
  EXPECT_NE(error("link: \"tor1:Ethernet4\", set: one_way").find("needs 'direction'"), std::string::npos);
  EXPECT_NE(error("node: spine1, set: down, flap: {period: 10us, down: 10us, count: 1}"), "");
  EXPECT_NE(error("node: spine1, set: down, flap: {period: 10us, jitter: 6us, count: 1}").find("overlap"),
            std::string::npos);
  EXPECT_NE(error("node: spine1, set: up, links_after: 1us"), "");
  // Refused, and not expanded: a thousand million flaps would take the time and memory of as many.
  EXPECT_NE(error("node: spine1, set: down, flap: {period: 1us, count: 1000000000}"), "");
  EXPECT_NE(error("node: spine1, set: down, flap: {period: 100h, count: 10000}"), "");
  EXPECT_NE(error("ports: [Ethernet0], set: down").find("goes with 'node'"), std::string::npos);
  EXPECT_NE(error("link: \"tor1:Ethernet4\", ports: [Ethernet0], set: down").find("goes with 'node'"),
            std::string::npos);
  EXPECT_NE(error_of(paced("detection: {}\n")), "");
  EXPECT_NE(error_of(paced("convergence: 1us\nconvergence_per_hop: 1us\n")), "");
}

}  // namespace
}  // namespace softspine::testbeds
