// SPDX-License-Identifier: Apache-2.0
// Link aggregation between switches, by arithmetic: a packet is sent each microsecond, and as many are lost as
// microseconds pass.
#include <fmt/format.h>

#include <set>

#include "control/report/lag_counters.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;

// 1,000 packets at 1 us each from h1 to h2. Between each ToR and each of two spines there are four links, all of them
// one LAG.
std::string paced(const std::string& lag, const std::string& more, const std::string& profile = "{}") {
  std::string links;
  std::string lags;
  for (const char* tor : {"tor1", "tor2"}) {
    for (const char* spine : {"spine1", "spine2"}) {
      for (int more_links = 0; more_links < 3; ++more_links)
        links += fmt::format("    - {{endpoints: [{}, {}], rate: 100Gbps, length: 40m}}\n", tor, spine);
      lags += fmt::format("    - {{name: {0}-{1}, between: [{0}, {1}]{2}}}\n", tor, spine, lag);
    }
  }
  return R"(
name: paced
run: {duration: 10ms}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 1, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps, length: 40m}}
profiles: {default: )" +
         profile + "}\ntopology:\n  links:\n" + links + "  lags:\n" + lags + more;
}
constexpr const char* kFlow =
    "workload:\n"
    "  - {name: w, pattern: pairs, from: [h1], to: [h2], message: 1024B, messages: 1000, mtu: 1024, rate: 8.976Gbps}\n";

// The ports of a node that sent packets of the flow.
std::set<std::string> used(const Json& report, const std::string& node) {
  std::set<std::string> out;
  for (const auto& [name, link] : report["links"].items()) {
    const bool leads_to_host = link["to"].get<std::string>().starts_with("h");
    if (name.starts_with(node + ":") && !leads_to_host && link["tx_packets"].get<uint64_t>() >= 50) out.insert(name);
  }
  return out;
}
std::string used_port(const std::string& lag = "", const std::string& profile = "{}") {
  const auto ports = used(run_text(paced(lag, kFlow, profile)).report, "tor1");
  EXPECT_EQ(ports.size(), 1U);
  return ports.empty() ? "" : *ports.begin();
}
// tor1's LAG that the port is in.
std::string lag_of(const Json& report, const std::string& port) {
  return "tor1-" + report["links"][port]["to"].get<std::string>().substr(0, 6);
}

TEST(Lag, LosesOnlyWhatWasOnAMembersLinkAndMovesItsFlowsAtOnce) {
  const std::string port = used_port();
  const Outcome out = run_text(
      paced("", std::string(kFlow) + "faults: [{at: 100us, link: \"" + port + "\", set: down}]\nconvergence: 5ms\n"));
  EXPECT_LE(out.report["faults"][0]["loss_window"]["lost_packets"].get<uint64_t>(), 2U);
  EXPECT_GE(out.snapshot.flows[0].received_packets, 998U);
  EXPECT_EQ(out.report["totals"]["route_changes"], 0) << "routes lead to the LAG as before";
  const Json& lag = out.report["lags"][lag_of(out.report, port)];
  EXPECT_EQ(lag["members"], 4);
  EXPECT_EQ(lag["members_up"], 3);
  EXPECT_EQ(lag["up"], true);
  const auto after = used(out.report, "tor1");
  EXPECT_EQ(after.size(), 2U) << "before and after";
}

TEST(Lag, IsLeftAtOnceHoweverLongRoutingTakesToDetectALink) {
  const std::string port = used_port();
  const Outcome out = run_text(paced("", std::string(kFlow) + "faults: [{at: 100us, link: \"" + port +
                                             "\", set: down}]\ndetection: {loss_of_signal: 500us}\n"));
  EXPECT_LE(out.report["faults"][0]["loss_window"]["lost_packets"].get<uint64_t>(), 2U);
}

TEST(Lag, IsDownWithFewerMembersThanMinLinksAndRoutesFollowAsForALink) {
  const std::string port = used_port();
  const Outcome out = run_text(paced(", min_links: 4", std::string(kFlow) + "faults: [{at: 100us, link: \"" + port +
                                                           "\", set: down}]\nconvergence: 200us\n"));
  const Json& window = out.report["faults"][0]["loss_window"];
  EXPECT_NEAR(window["lost_packets"].get<double>(), 200, 2) << "until routes follow";
  EXPECT_NEAR(out.report["totals"]["drops"]["no_member"].get<double>(), 200, 2);
  EXPECT_EQ(out.report["lags"][lag_of(out.report, port)]["up"], false);
  EXPECT_GT(out.report["totals"]["route_changes"].get<int>(), 0);
  EXPECT_NE(lag_of(out.report, *used(out.report, "tor1").begin()),
            lag_of(out.report, *used(out.report, "tor1").rbegin()))
      << "by the other spine";
}

TEST(Lag, IsUpWithAsManyMembersAsMinLinks) {
  const Outcome out = run_text(paced(", min_links: 4", kFlow));
  for (const auto& [name, lag] : out.report["lags"].items()) {
    EXPECT_EQ(lag["members_up"], 4) << name;
    EXPECT_EQ(lag["up"], true) << name;
  }
  EXPECT_EQ(out.report["lags"].size(), 4u);
}

TEST(Lag, IsAsBeforeWhenItsMemberIsRepaired) {
  const std::string port = used_port();
  const std::string faults =
      "faults: [{at: 100us, link: \"" + port + "\", set: down}, {at: 300us, link: \"" + port + "\", set: up}]\n";
  const Outcome out = run_text(paced("", kFlow + faults));
  EXPECT_EQ(out.report["lags"][lag_of(out.report, port)]["members_up"], 4);
  // 1,000 packets, of which about 200 went by another member.
  EXPECT_NEAR(out.report["links"][port]["tx_packets"].get<double>(), 800, 4);
}

TEST(Lag, TakesNoNoticeOfFramesThatDieAndBfdRemovesTheMember) {
  const std::string port = used_port();
  const std::string fault = "faults: [{at: 100us, link: \"" + port + "\", set: one_way, direction: out}]\n";
  const auto lost = [&](const std::string& more) {
    return run_text(paced("", kFlow + fault + more)).report["faults"][0]["loss_window"]["lost_packets"].get<double>();
  };
  EXPECT_NEAR(lost(""), 900, 2) << "a static LAG has its carrier";
  EXPECT_NEAR(lost("detection: {bfd: {interval: 20us, multiplier: 3}}\n"), 60, 2);
}

TEST(Lag, IsLeftByADrainedMemberWithoutLoss) {
  const std::string port = used_port();
  const Outcome out =
      run_text(paced("", std::string(kFlow) + "faults: [{at: 100us, link: \"" + port + "\", set: drained}]\n"));
  EXPECT_EQ(out.snapshot.flows[0].missing(), 0U);
  EXPECT_NEAR(out.report["links"][port]["tx_packets"].get<double>(), 100, 3);
}

TEST(Lag, IsShownMemberByMemberAtBothEnds) {
  const Outcome out = run_text(paced("", kFlow));
  const std::string table = control::lags_table(out.snapshot, "tor1");
  EXPECT_EQ(std::ranges::count(table, '\n'), 2 + 8) << table;  // head, two LAGs of four
  EXPECT_EQ(table.find("tor2"), std::string::npos);
  const Json& ends = out.report["lags"][lag_of(out.report, used_port())]["ends"];
  EXPECT_EQ(ends["tor1"]["tx_packets"], 1000);
  EXPECT_EQ(ends["tor1"]["max_over_mean"], 4.0) << "one flow, by one member of four";
}

// A packet each millisecond, from 5 s on, for 15 s.
std::string slow(const std::string& lag, const std::string& fault, int messages = 15'000) {
  return paced(lag, fmt::format("workload:\n"
                                "  - {{name: w, pattern: pairs, from: [h1], to: [h2], message: 1024B, messages: {}, "
                                "mtu: 1024, rate: 8.976Mbps, start: 5s}}\n"
                                "faults: [{}]\n",
                                messages, fault));
}
Outcome run_slow(const std::string& lag, const std::string& fault) {
  return run_text(slow(lag, fault), {.duration = dataplane::Duration::s(130)});
}

TEST(LacpBetweenSwitches, JoinsMembersWhenBothEndsAgree) {
  const Outcome out = run_slow(", mode: lacp, fast_rate: true", "");
  EXPECT_EQ(out.snapshot.flows[0].received_packets, 15'000U);
  EXPECT_EQ(out.report["lags"]["tor1-spine1"]["members_up"], 4);
  EXPECT_EQ(out.report["lags"]["tor1-spine1"]["mode"], "lacp");
  // Before LACP has agreed no route leads there: 2 s of waiting (802.1AX), then the partner's answer.
  const Outcome early = run_text(paced(", mode: lacp", kFlow));
  EXPECT_EQ(early.snapshot.flows[0].received_packets, 0U);
  EXPECT_EQ(early.report["lags"]["tor1-spine1"]["up"], false);
}

TEST(LacpBetweenSwitches, ThatHasAgreedBeforeForwardsFromTheStart) {
  const Outcome out = run_text(paced(", mode: lacp, agreed: true", kFlow));
  EXPECT_EQ(out.snapshot.flows[0].received_packets, 1'000U);
  EXPECT_EQ(out.report["lags"]["tor1-spine1"]["members_up"], 4);
  const Outcome longer = run_slow(", mode: lacp, agreed: true", "");
  EXPECT_EQ(longer.snapshot.flows[0].received_packets, 15'000U);
  EXPECT_EQ(longer.report["lags"]["tor1-spine1"]["members_up"], 4);
  EXPECT_EQ(longer.report["totals"]["route_changes"], 0);
}

TEST(LacpBetweenSwitches, ALinkThatIsOneWayLeavesAfterThreeOfTheTimesThatAreAskedFor) {
  const std::string port = used_port();
  const auto lost = [&port](const char* direction, const char* lag) {
    const Outcome out =
        run_slow(lag, fmt::format("{{at: 6005ms, link: \"{}\", set: one_way, direction: {}}}", port, direction));
    return out.snapshot.flows.empty() ? UINT64_MAX : out.snapshot.flows[0].missing();
  };
  const uint64_t by_fast = lost("out", ", mode: lacp, fast_rate: true");
  const uint64_t other_way = lost("in", ", mode: lacp, fast_rate: true");
  const uint64_t by_slow = lost("out", ", mode: lacp");
  const uint64_t by_static = lost("out", "");
  // The partner's last LACPDU came up to a second before: 2 to 3 s, a packet each millisecond; 20 ms to look.
  EXPECT_GE(by_fast, 1'990U);
  EXPECT_LE(by_fast, 3'030U);
  const uint64_t agreed = lost("out", ", mode: lacp, fast_rate: true, agreed: true");
  EXPECT_GE(agreed, 1'990U);
  EXPECT_LE(agreed, 3'030U);
  EXPECT_EQ(other_way, 0U) << "the flow goes the way that works";
  const uint64_t with_seven = lost("out", ", mode: lacp, fast_rate: true, retry_count: 7");
  EXPECT_GE(with_seven, 5'990U);
  EXPECT_LE(with_seven, 7'030U);
  // Slow: more than the flow has, which ends 13,995 packets after the fault.
  EXPECT_NEAR(static_cast<double>(by_slow), 13'995, 2);
  EXPECT_NEAR(static_cast<double>(by_static), 13'995, 2);
}

TEST(LacpBetweenSwitches, ALinkThatIsSilentForLessThanItsTimeLosesWhatTheFaultsExplain) {
  const std::string port = used_port();
  std::string faults;
  for (const int from : {6'005, 8'505, 11'005}) {
    faults += fmt::format("{}{{at: {}ms, link: \"{}\", set: one_way, direction: out, until: {}ms}}",
                          faults.empty() ? "" : ", ", from, port, from + 1'500);
  }
  const Outcome out = run_slow(", mode: lacp, fast_rate: true, agreed: true", faults);
  EXPECT_NEAR(static_cast<double>(out.snapshot.flows.at(0).missing()), 3 * 1'500, 3);
  EXPECT_EQ(out.report["totals"]["route_changes"], 0);
  EXPECT_EQ(out.report["lags"][lag_of(out.report, port)]["members_up"], 4);
}

std::vector<std::string> notes_of(const std::string& text, dataplane::Duration duration) {
  const control::Testbed testbed = testbed_of(text, {.duration = duration});
  auto fabric = RunningFabric::make(testbed, {});
  if (!fabric) return {fabric.error()};
  EXPECT_TRUE((*fabric)->run());
  auto notes = (*fabric)->notes();
  EXPECT_EQ((*fabric)->drain(), 0U);
  return notes;
}

// At each end of each link: for 2 s nobody has agreed, then all have, and then one way of one link dies.
TEST(LacpBetweenSwitches, NotesSayOfEachPortWhatItsPartnerDid) {
  const auto early = notes_of(paced(", mode: lacp", kFlow), dataplane::Duration::ms(10));
  EXPECT_EQ(early.size(), 4U * 4 * 2);
  for (const std::string& note : early)
    EXPECT_TRUE(note.ends_with(": LACP: its partner never agreed to use the port")) << note;
  const std::string lag = ", mode: lacp, fast_rate: true";
  EXPECT_EQ(notes_of(slow(lag, ""), dataplane::Duration::s(30)), std::vector<std::string>{});
  const auto late = notes_of(slow(lag, "{at: 6005ms, link: \"tor1:Ethernet4\", set: one_way, direction: out}"),
                             dataplane::Duration::s(30));
  ASSERT_EQ(late.size(), 2U);
  // spine1 hears nothing more, and asks for no more than a LACPDU in 30 s: too few for tor1.
  for (const std::string& note : late) {
    EXPECT_TRUE(note.starts_with("tor1:Ethernet4: ") || note.starts_with("spine1:")) << note;
    EXPECT_TRUE(note.ends_with(": LACP: its partner is lost, and the link not used; its partner fell silent 1 times"))
        << note;
  }
}

// A member that is up again forwards when LACP has agreed on it anew, and the fault is over then, whatever other faults
// there are; one of which another link is down still is not.
TEST(LacpBetweenSwitches, AFaultIsOverWhenLacpHasAgreedOnEachOfItsLinks) {
  const std::string lag = ", mode: lacp, fast_rate: true, agreed: true";
  const auto recovered = [&](const std::string& faults) {
    return run_slow(lag, faults).report["faults"][0]["loss_window"]["recovered_ps"];
  };
  const std::string one = "{at: 6s, link: \"tor1:Ethernet4\", set: down}, {at: 8s, link: \"tor1:Ethernet4\", set: up}";
  const Json alone = recovered(one);
  ASSERT_FALSE(alone.is_null());
  EXPECT_GE(alone.get<int64_t>(), 8'000'000'000'000);
  EXPECT_LE(alone.get<int64_t>(), 8'000'000'000'000 + 4'000'000'000'000) << "2 s of waiting (802.1AX), and the answers";
  EXPECT_EQ(recovered(one + ", {at: 6500ms, link: \"tor2:Ethernet8\", set: down}"), alone) << "another fault goes on";
  EXPECT_TRUE(recovered("{at: 6s, node: tor1, ports: [Ethernet4, Ethernet8], set: down}, "
                        "{at: 8s, link: \"tor1:Ethernet4\", set: up}")
                  .is_null());
}

// 120,000 packets in 120 s. The partner's last LACPDU came up to 30 s before the fault, and is good for 90 s.
TEST(LacpBetweenSwitches, ALinkThatIsOneWayStaysForAMinuteOrMoreWhereTheSlowRateIsAskedFor) {
  const std::string port = used_port();
  for (const char* lag : {", mode: lacp", ", mode: lacp, agreed: true"}) {
    const Outcome out =
        run_text(slow(lag, fmt::format("{{at: 6005ms, link: \"{}\", set: one_way, direction: out}}", port), 120'000),
                 {.duration = dataplane::Duration::s(130)});
    ASSERT_EQ(out.snapshot.flows.size(), 1U);
    EXPECT_GE(out.snapshot.flows[0].missing(), 60'000U) << lag;
    EXPECT_LE(out.snapshot.flows[0].missing(), 90'020U) << lag;
    EXPECT_EQ(out.report["lags"][lag_of(out.report, port)]["members_up"], 3) << lag;
  }
}

}  // namespace
}  // namespace softspine::testbeds
