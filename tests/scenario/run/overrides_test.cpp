// SPDX-License-Identifier: Apache-2.0
// Overrides and the controller in a running fabric: who goes where, what happens at failures, what is counted.
#include <algorithm>

#include "analysis/explain/explanation.hpp"
#include "analysis/explain/probe.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// Packets of 1098 + 24 bytes, 1 us each, from h1 to h2 by one of four spines, Ethernet4 … Ethernet16 of tor1.
std::string paced(const std::string& more, const std::string& groups = "{}") {
  return R"(
name: paced
run: {duration: 10ms}
fabric: {kind: leaf-spine, tors: 2, spines: 4, hosts_per_tor: 1, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
profiles: {default: {groups: )" +
         groups + R"(}}
workload:
  - {name: w, pattern: pairs, from: [h1], to: [h2], message: 1024B, messages: 1000, mtu: 1024, rate: 8.976Gbps}
)" + more;
}

std::string override_by(int spine, const std::string& to = "h2") {
  return "overrides: [{at: tor1, from: h1, to: " + to + ", via: spine" + std::to_string(spine) + "}]\n";
}
std::string uplink(int spine) {
  return "tor1:Ethernet" + std::to_string(4 * spine);
}

uint64_t sent_by(const Outcome& out, const std::string& port) {
  return out.report["links"][port]["tx_packets"].get<uint64_t>();
}
uint64_t hits(const Outcome& out, const char* node = "tor1") {
  return out.report["switches"][node]["override_hits"].get<uint64_t>();
}
uint64_t fallbacks(const Outcome& out, const char* node = "tor1") {
  return out.report["switches"][node]["override_fallbacks"].get<uint64_t>();
}

// Of the first flow; 0 if there was no run, since something before it has failed.
uint64_t received(const Outcome& out) {
  return out.snapshot.flows.empty() ? 0 : out.snapshot.flows[0].received_packets;
}

// The spine that the hash takes.
int hashed_spine() {
  const Outcome out = run_text(paced(""));
  for (int spine = 1; spine <= 4; ++spine) {
    if (sent_by(out, uplink(spine)) == 1000) return spine;
  }
  ADD_FAILURE() << "no uplink has the flow";
  return 1;
}
int another_spine() {
  return hashed_spine() % 4 + 1;
}

TEST(Overrides, SendTheirPacketsWhereTheySay) {
  for (int spine = 1; spine <= 4; ++spine) {
    const Outcome out = run_text(paced(override_by(spine)));
    EXPECT_EQ(sent_by(out, uplink(spine)), 1000U) << spine;
    EXPECT_EQ(hits(out), 1000U);
    EXPECT_EQ(fallbacks(out), 0U);
    EXPECT_EQ(hits(out, "spine1") + hits(out, "tor2"), 0U);
  }
}

TEST(Overrides, MatchThePortThatAPacketComesInBy) {
  // Another port's override: a miss, which is no fall-back.
  const int spine = another_spine();
  const Outcome out = run_text(paced("overrides: [{at: tor1, from: spine" + std::to_string(spine % 4 + 1) +
                                     ", to: h2, via: spine" + std::to_string(spine) + "}]\n"));
  EXPECT_EQ(sent_by(out, uplink(spine)), 0U);
  EXPECT_EQ(hits(out), 0U);
  EXPECT_EQ(fallbacks(out), 0U);
}

TEST(Overrides, OfAPrefixCoverItsHostsAndALongerOneGoesBefore) {
  const Outcome by_rack = run_text(paced(override_by(3, "tor2")));
  EXPECT_EQ(sent_by(by_rack, uplink(3)), 1000U);
  const Outcome by_host =
      run_text(paced("overrides: [{at: tor1, from: h1, to: tor2, via: spine3}, {at: tor1, from: "
                     "h1, to: h2, via: spine2}]\n"));
  EXPECT_EQ(sent_by(by_host, uplink(2)), 1000U);
}

// Racks of four hosts: each slice has one of the four uplinks, Ethernet16 … Ethernet28, h5's the first.
TEST(Overrides, GoBeforePinning) {
  const auto pinned = [](const std::string& more) {
    std::string text = paced(more, "{mode: pinned}");
    text.replace(text.find("hosts_per_tor: 1"), 16, "hosts_per_tor: 4");
    return run_text(text.replace(text.find("to: [h2]"), 8, "to: [h5]"));
  };
  EXPECT_EQ(sent_by(pinned(""), "tor1:Ethernet16"), 1000U);
  EXPECT_EQ(sent_by(pinned(override_by(4, "h5")), "tor1:Ethernet28"), 1000U);
}

// The link is down from 100 us on, and routes follow never: what ECMP sends there is lost, an override falls back.
TEST(Overrides, FallBackAtOnceWhenTheirLinkIsDown) {
  const int hashed = hashed_spine();
  const int spine = another_spine();
  const std::string fault = "faults: [{at: 100us, link: \"" + uplink(spine) + "\", set: down}]\nconvergence: 1s\n";
  const Outcome out = run_text(paced(override_by(spine) + fault));
  EXPECT_NEAR(static_cast<double>(hits(out)), 100, 3);
  EXPECT_EQ(hits(out) + fallbacks(out), 1000U);
  EXPECT_EQ(sent_by(out, uplink(hashed)), fallbacks(out));
  EXPECT_GE(received(out), 998U) << "only what was on the link";
  EXPECT_LE(received(run_text(
                paced("faults: [{at: 100us, link: \"" + uplink(hashed) + "\", set: down}]\nconvergence: 1s\n"))),
            103U);
}

// By the LAG of three links to a spine, its hash chooses the member; without members, at once by ECMP. Routes follow
// never.
TEST(Overrides, OfALagTakeItsMembersAndFallBackWhenItIsDown) {
  const int spine = another_spine();
  const std::string up = "spine" + std::to_string(spine);
  const std::string lag = override_by(spine) + "topology:\n  links: [{endpoints: [tor1, " + up +
                          "], rate: 100Gbps, length: 3m}, {endpoints: [tor1, " + up +
                          "], rate: 100Gbps, length: 3m}]\n  lags: [{name: up, between: [tor1, " + up +
                          "], min_links: 2}]\nconvergence: 1s\n";
  const Outcome whole = run_text(paced(lag));
  EXPECT_EQ(hits(whole), 1000U);
  EXPECT_EQ(whole.report["lags"]["up"]["ends"]["tor1"]["tx_packets"], 1000);
  std::string port;
  for (const auto& [name, end] : whole.report["links"].items()) {
    if (name.starts_with("tor1:") && end["tx_packets"] == 1000 && end["to"].get<std::string>().starts_with(up))
      port = name;
  }
  ASSERT_NE(port, "") << "one flow, by one of the LAG's members";
  const auto fails = [&](const std::string& more) {
    return run_text(paced(lag + "faults: [{at: 100us, link: \"" + port + "\", set: down}" + more + "]\n"));
  };
  const Outcome one = fails("");
  EXPECT_EQ(hits(one), 1000U) << "two members are left";
  EXPECT_GE(received(one), 998U);
  std::string second;  // of the LAG's other members one that the flow does not go by from then on
  for (const auto& [name, end] : one.report["links"].items()) {
    const bool is_of_lag = name.starts_with("tor1:") && end["to"].get<std::string>().starts_with(up);
    if (is_of_lag && end["tx_packets"] == 0) second = name;
  }
  ASSERT_NE(second, "");
  const Outcome two = fails(", {at: 300us, link: \"" + second + "\", set: down}");
  EXPECT_NEAR(static_cast<double>(hits(two)), 300, 3) << "with one member it is down";
  EXPECT_EQ(hits(two) + fallbacks(two), 1000U);
  EXPECT_EQ(sent_by(two, uplink(hashed_spine())), fallbacks(two));
  EXPECT_GE(received(two), 998U);
  EXPECT_EQ(two.report["totals"]["drops"]["no_member"], 0);
}

TEST(Overrides, AreInUseAgainWhenTheirLinkIsUp) {
  const int spine = another_spine();
  const Outcome out = run_text(paced(override_by(spine) + "faults: [{at: 100us, link: \"" + uplink(spine) +
                                     "\", set: down}, {at: 300us, link: \"" + uplink(spine) + "\", set: up}]\n"));
  EXPECT_NEAR(static_cast<double>(fallbacks(out)), 200, 4);
  EXPECT_EQ(hits(out) + fallbacks(out), 1000U);
}

// Far from the switch that has the override: until routes follow, packets are lost there; then it is withdrawn.
TEST(Overrides, AreWithdrawnWhenTheirNextHopLeavesTheRoutes) {
  const int spine = another_spine();
  const std::string far = "tor2:Ethernet" + std::to_string(4 * spine);
  const Outcome out =
      run_text(paced(override_by(spine) + "faults: [{at: 100us, link: \"" + far +
                     "\", set: down}, {at: 500us, link: \"" + far + "\", set: up}]\nconvergence: 50us\n"));
  EXPECT_NEAR(static_cast<double>(fallbacks(out)), 400, 5) << "from 150 us until 550 us";
  EXPECT_NEAR(static_cast<double>(1000 - received(out)), 50, 4);
}

TEST(Overrides, AreExplainedAsTheyAre) {
  const int spine = another_spine();
  const control::Testbed testbed = testbed_of(paced(override_by(spine)));
  const control::Fabric& fabric = testbed.fabric;
  std::vector<bool> up(fabric.links.size(), true);
  uint32_t host = 0;
  uint32_t other = 0;
  uint32_t link = 0;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].name == "h1") host = n;
    if (fabric.nodes[n].name == "h2") other = n;
  }
  for (uint32_t l = 0; l < fabric.links.size(); ++l) {
    if (fabric.name_of(fabric.links[l].a) == uplink(spine) || fabric.name_of(fabric.links[l].b) == uplink(spine))
      link = l;
  }
  const auto explain = [&](const std::vector<bool>& routed, const std::vector<bool>& working) {
    analysis::Walker walker(testbed, routed, working);
    const uint32_t tor = fabric.peer_of({host, 0}).node;
    const auto frame = analysis::frame_of(fabric, {.from = host, .to = other}, walker.router_mac(tor));
    const analysis::Path path = walker.walk(frame, static_cast<uint32_t>(frame.size()), {host, 0});
    return std::pair{analysis::path_json(walker, path), analysis::path_text(walker, path)};
  };
  const auto [json, text] = explain(up, up);
  EXPECT_EQ(json["hops"][0]["route"], "override");
  EXPECT_EQ("tor1:" + json["hops"][0]["out_port"].get<std::string>(), uplink(spine));
  EXPECT_NE(text.find("override: from Ethernet0 to 10.0.2.2/32, line 8"), std::string::npos) << text;
  std::vector<bool> down = up;
  down[link] = false;
  const auto [before, before_text] = explain(up, down);
  EXPECT_EQ(before["hops"][0]["override"]["falls_back"], "its link is down");
  EXPECT_NE(before_text.find("its link is down"), std::string::npos) << before_text;
  const auto [after, after_text] = explain(down, down);
  EXPECT_EQ(after["hops"][0]["override"]["falls_back"], "its next hop has left the routes");
  EXPECT_EQ(after["end"], "host");
}

// Eight elephants at line rate over eight uplinks, four queue pairs each; the controller has tor1, not tor3.
std::string elephants(const std::string& more) {
  return R"(
name: elephants
run: {duration: 2ms, seed: 1}
fabric: {kind: leaf-spine, tors: 4, spines: 8, hosts_per_tor: 8, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload:
  - {name: placed, pattern: pairs, from: ["tor1:*"], to: ["tor2:*"], message: 64KiB, messages: 100000, mtu: 4096, rate: 80Gbps}
  - {name: hashed, pattern: pairs, from: ["tor3:*"], to: ["tor4:*"], message: 64KiB, messages: 100000, mtu: 4096, rate: 80Gbps}
)" + more;
}
constexpr const char* kController = "traffic_engineering: {interval: 100us, delay: 10us, at: tor1}\n";

uint64_t lost(const Outcome& out, const std::string& workload) {
  return out.report["flows"][workload]["missing_packets"].get<uint64_t>();
}

TEST(TrafficEngineering, GivesEveryElephantAnUplink) {
  const Outcome out = run_text(elephants(kController));
  const auto& controller = out.report["engineering"];
  EXPECT_EQ(controller["demands"], 8);
  EXPECT_EQ(controller["placed"], 8);
  EXPECT_EQ(controller["plans"], 19) << "every 100 us, at 2 ms no longer";
  EXPECT_NEAR(controller["highest_load"].get<double>(), 0.8, 0.01);
  // From 110 us on: 1.89 of 2 ms.
  const auto all = out.report["flows"]["placed"]["sent_packets"].get<double>();
  EXPECT_NEAR(static_cast<double>(hits(out)) / all, 1.89 / 2, 0.01);
  EXPECT_EQ(hits(out, "tor3"), 0U);
  EXPECT_GT(lost(out, "hashed"), 20 * lost(out, "placed"));
  for (int spine = 1; spine <= 8; ++spine) {
    const auto share = out.report["links"]["tor1:Ethernet" + std::to_string(28 + 4 * spine)]["share"].get<double>();
    EXPECT_NEAR(share, 1.0 / 8, 0.015) << spine;
  }
}

TEST(TrafficEngineering, MovesNobodyWhileNothingChanges) {
  const Outcome out = run_text(elephants(kController));
  EXPECT_EQ(out.report["engineering"]["moved"], 0);
  EXPECT_EQ(out.report["engineering"]["updates"], 1) << "one plan for tor1, which stays";
}

// Seven elephants for eight uplinks: one of theirs goes down, and the next plan has room for all.
TEST(TrafficEngineering, PlacesAgainAfterAFailure) {
  std::string text = elephants(kController);
  text.replace(text.find("[\"tor1:*\"], to: [\"tor2:*\"]"), 26, "[h1..h7], to: [h9..h15]  ");
  const Outcome whole = run_text(text);
  std::string used;
  for (int spine = 1; spine <= 8; ++spine) {
    const std::string port = "tor1:Ethernet" + std::to_string(28 + 4 * spine);
    if (sent_by(whole, port) > 3000) used = port;
  }
  ASSERT_FALSE(used.empty());
  const Outcome out = run_text(text + "faults: [{at: 1050us, link: \"" + used + "\", set: down}]\n");
  EXPECT_GE(out.report["engineering"]["moved"], 1);
  EXPECT_GE(out.report["engineering"]["updates"], 2);
  EXPECT_EQ(out.report["engineering"]["placed"], 7);
  // 80 Gb/s are 2.39 packets a microsecond: from 1050 us until the plan of 1100 us is there at 1110 us.
  EXPECT_NEAR(static_cast<double>(fallbacks(out)), 60 * 2.39, 5);
  EXPECT_LE(lost(out, "placed"), lost(whole, "placed") + 2 + 150) << "what fell back collides for 60 us at most";
}

TEST(TrafficEngineering, FlowsThatFitNowhereStayWithEcmp) {
  std::string text = elephants("traffic_engineering: {interval: 100us, at: tor1, utilisation: 50%}\n");
  const Outcome out = run_text(text);
  EXPECT_EQ(out.report["engineering"]["demands"], 8);
  EXPECT_EQ(out.report["engineering"]["placed"], 0);
  EXPECT_NEAR(out.report["engineering"]["highest_load"].get<double>(), 0.8, 0.01) << "where ECMP would have them";
  EXPECT_EQ(hits(out), 0U);
}

TEST(TrafficEngineering, FilesOverridesGoBeforeThePlans) {
  const Outcome out = run_text(elephants(std::string(kController) +
                                         "overrides: [{at: tor1, from: h1, to: h9, via: spine5}, {at: tor1, from: h2, "
                                         "to: h10, via: spine5}]\n"));
  EXPECT_NEAR(out.report["links"]["tor1:Ethernet48"]["utilisation"].get<double>(), 1, 0.02);
  EXPECT_GT(lost(out, "placed"), 1000U) << "two on one link";
}

TEST(TrafficEngineering, EndsWithTheTraffic) {
  std::string text = elephants(kController);
  for (size_t at = text.find("100000"); at != std::string::npos; at = text.find("100000")) text.replace(at, 6, "20");
  const Outcome out = run_text(text);
  EXPECT_GE(out.report["engineering"]["plans"], 1);
  EXPECT_LE(out.report["engineering"]["plans"], 3) << "20 messages last 137 us, and wait 85 us at most";
}

TEST(TrafficEngineering, GivesTheSameBytesForAnyNumberOfWorkers) {
  const std::string text = elephants(std::string(kController) +
                                     "faults: [{at: 1050us, link: \"tor1:Ethernet40\", set: down}, {at: 1500us, link: "
                                     "\"tor1:Ethernet40\", set: up}]\nconvergence: 20us\n");
  const auto bytes = [&](uint32_t workers) {
    Outcome out = run_text(text, {.duration = dataplane::Duration::us(1700), .workers = workers}, true);
    out.report.erase("engine");
    return std::pair{out.report.dump(), std::move(out.capture)};
  };
  const auto one = bytes(1);
  EXPECT_GT(one.second.size(), 100'000U);
  for (const uint32_t workers : {2U, 3U}) EXPECT_TRUE(bytes(workers) == one) << workers << " workers";
}

}  // namespace
}  // namespace softspine::testbeds
