// SPDX-License-Identifier: Apache-2.0
// Built-in hosts whose bonds run LACP, by arithmetic: a packet is sent each millisecond, and as many are lost as
// milliseconds pass until silence is found and told.
#include <fmt/format.h>

#include <map>
#include <set>

#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::Duration;

// From h1 to h2 behind the same two ToRs, by tor1 and the first port of each. The flow begins after 5 s and lasts for
// 120 s.
std::string text(const std::string& bond, const std::string& fault) {
  return "name: bond\nrun: {duration: 130s}\n"
         "fabric: {kind: hpn, segments: 1, servers_per_segment: 2, rails: 1, aggregations_per_plane: 1, planes: 1, "
         "cores: 0,\n  host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 400Gbps}, bond: {" +
         bond +
         "}}\nworkload:\n"
         "  - {name: w, pattern: pairs, from: [s1-h1-nic1], to: [s1-h2-nic1], message: 1024B, messages: 120000, mtu: "
         "1024, rate: 8.976Mbps, start: 5s}\n"
         "faults: [" +
         fault + "]\n";
}

Outcome run_bond(const std::string& bond, const std::string& fault = "") {
  return run_text(text(bond, fault), {.duration = Duration::s(130)});
}

std::string one_way(const char* link, const char* direction, const char* more = "") {
  return fmt::format("{{at: 6005ms, link: \"{}\", set: one_way, direction: {}{}}}", link, direction, more);
}

TEST(LacpOfBuiltInHosts, ExchangesALacpduEachSecondOrEachHalfMinuteAndDisturbsNothing) {
  const Outcome none = run_bond("");
  const Outcome fast = run_bond("lacp_rate: fast");
  const Outcome slow = run_bond("lacp_rate: slow");
  EXPECT_EQ(host_of(none, "s1-h1-nic1").counters.answers_sent, 0U);
  // The switches ask for one a second of each of two ports; of 130 s the last one's is not over.
  for (const Outcome* out : {&fast, &slow}) {
    EXPECT_EQ(out->snapshot.flows.at(0).missing(), 0U);
    EXPECT_EQ(out->report["totals"]["route_changes"], 0);
    EXPECT_NEAR(static_cast<double>(host_of(*out, "s1-h1-nic1").counters.answers_sent), 260, 4);
    EXPECT_EQ(host_of(*out, "s1-h1-nic1").counters.failovers, 0U);
  }
  const auto heard = [](const Outcome& out) {
    const auto& ports = host_of(out, "s1-h1-nic1").ports;
    return ports[0].rx_packets + ports[1].rx_packets;
  };
  EXPECT_NEAR(static_cast<double>(heard(fast)), 260, 4) << "what the host asks for";
  EXPECT_NEAR(static_cast<double>(heard(slow)), 8, 2);
}

// The host hears nothing any more. Its partner's last LACPDU came up to one period before, and is good for three;
// three seconds later the partner is forgotten and told so. 20 ms to look.
TEST(LacpOfBuiltInHosts, MissesASilentSwitchAfterThreeOfThePeriodsThatTheHostAsksFor) {
  const auto lost = [](const std::string& bond) {
    const Outcome out = run_bond(bond, one_way("s1-h2-nic1:eth0", "in"));
    return out.snapshot.flows.empty() ? 0 : out.snapshot.flows[0].missing();
  };
  const uint64_t fast = lost("lacp_rate: fast");
  EXPECT_GE(fast, 2'000U + 3'000U - 5);
  EXPECT_LE(fast, 3'000U + 3'000U + 25);
  const uint64_t slow = lost("lacp_rate: slow");
  EXPECT_GE(slow, 60'000U + 3'000U - 5);
  EXPECT_LE(slow, 90'000U + 3'000U + 25);
  EXPECT_NEAR(static_cast<double>(lost("")), 120'000 - 1'005, 2) << "nobody looks";
}

// The switch asks for a LACPDU each second, whatever the host does, unless it is told to ask for fewer.
TEST(LacpOfBuiltInHosts, LetsTheHostLeaveAPortThatItsSwitchDoesNotHear) {
  for (const char* bond : {"lacp_rate: fast", "lacp_rate: slow"}) {
    const Outcome out = run_bond(bond, one_way("s1-h1-nic1:eth0", "out"));
    ASSERT_EQ(out.snapshot.flows.size(), 1U);
    EXPECT_GE(out.snapshot.flows[0].missing(), 2'000U + 3'000U - 5) << bond;
    EXPECT_LE(out.snapshot.flows[0].missing(), 3'000U + 3'000U + 25) << bond;
    EXPECT_EQ(host_of(out, "s1-h1-nic1").counters.failovers, 1U) << bond;
    EXPECT_EQ(host_of(out, "s1-h1-nic1").counters.flows_moved, 1U) << bond;
  }
}

TEST(LacpOfBuiltInHosts, IsGivenUpByItsSwitchAfterAsManyPeriodsAsTheRetryCountSays) {
  const Outcome out = run_bond("lacp_rate: fast, retry_count: 9", one_way("s1-h1-nic1:eth0", "out"));
  ASSERT_EQ(out.snapshot.flows.size(), 1U);
  EXPECT_GE(out.snapshot.flows[0].missing(), 8'000U + 3'000U - 5);
  EXPECT_LE(out.snapshot.flows[0].missing(), 9'000U + 3'000U + 25);
}

// What it asks for is what hosts send, and how long it waits: three of its periods, and three seconds until it says so.
TEST(LacpOfBuiltInHosts, FollowsTheSwitchsRateWhereItIsSlow) {
  const Outcome quiet = run_bond("lacp_rate: fast, fast_rate: false");
  EXPECT_NEAR(static_cast<double>(host_of(quiet, "s1-h1-nic1").counters.answers_sent), 8, 2);
  const auto& ports = host_of(quiet, "s1-h1-nic1").ports;
  EXPECT_NEAR(static_cast<double>(ports[0].rx_packets + ports[1].rx_packets), 260, 4) << "what the host asks for";
  const Outcome out = run_bond("lacp_rate: fast, fast_rate: false", one_way("s1-h1-nic1:eth0", "out"));
  ASSERT_EQ(out.snapshot.flows.size(), 1U);
  EXPECT_GE(out.snapshot.flows[0].missing(), 60'000U + 3'000U - 5);
  EXPECT_LE(out.snapshot.flows[0].missing(), 90'000U + 3'000U + 25);
  EXPECT_EQ(host_of(out, "s1-h1-nic1").counters.failovers, 1U);
}

TEST(LacpOfBuiltInHosts, TakesNoNoticeOfASilenceThatIsShorter) {
  const Outcome out = run_bond("lacp_rate: fast", one_way("s1-h2-nic1:eth0", "in", ", until: 7505ms"));
  EXPECT_NEAR(static_cast<double>(out.snapshot.flows.at(0).missing()), 1'500, 1) << "what the fault explains";
  EXPECT_EQ(out.report["totals"]["route_changes"], 0);
  EXPECT_EQ(host_of(out, "s1-h2-nic1").counters.failovers, 0U);
}

// By the first port until it is cut, and again as soon as the link is back and both have sent a LACPDU: neither has
// forgotten the other. A LACPDU a second leaves by the second port.
TEST(LacpOfBuiltInHosts, UsesALinkThatWasRepairedWhenBothEndsHaveHeardEachOther) {
  const Outcome out = run_bond("lacp_rate: fast, miimon: 1ms",
                               "{at: 6005ms, link: \"s1-h1-nic1:eth0\", set: down}, {at: 10005ms, link: "
                               "\"s1-h1-nic1:eth0\", set: up}");
  const control::HostSnapshot& host = host_of(out, "s1-h1-nic1");
  EXPECT_EQ(host.counters.failovers, 1U);
  EXPECT_EQ(host.counters.flows_moved, 2U);
  EXPECT_LE(out.snapshot.flows.at(0).missing(), 2U);
  EXPECT_NEAR(static_cast<double>(host.ports[1].link.packets), 4'000 + 130, 25);
}

// The host finds out by itself. A partner that was forgotten is called every 30 s only, and once heard waited for for
// 2 s (802.1AX); a LACPDU a second leaves by the second port.
TEST(LacpOfBuiltInHosts, LeavesASwitchThatHasDiedAndComesBackWithIt) {
  const Outcome out = run_bond("lacp_rate: fast", "{at: 6005ms, node: s1-r1-tor1, set: dead, until: 60s}");
  const control::HostSnapshot& host = host_of(out, "s1-h1-nic1");
  EXPECT_EQ(host.counters.failovers, 1U);
  EXPECT_EQ(host.counters.flows_moved, 2U);
  EXPECT_GE(out.snapshot.flows.at(0).missing(), 2'000U - 5);
  EXPECT_LE(out.snapshot.flows.at(0).missing(), 3'000U + 25);
  EXPECT_GE(host.ports[1].link.packets, 62'000U - 9'030U);
  EXPECT_LE(host.ports[1].link.packets, 93'100U - 8'005U + 130U);
}

// No way to the host is left but over ports on which LACP has not agreed: 3 s after what was heard last, and the look
// every 20 ms.
TEST(LacpOfSwitches, DropsWhatIsForAHostOfWhomNoPortIsAgreedOn) {
  const auto dropped = [](const char* bond, const std::string& faults) {
    const Outcome out = run_bond(bond, faults);
    if (out.snapshot.flows.empty()) return uint64_t{0};
    EXPECT_EQ(out.report["totals"]["drops"]["no_member"], out.snapshot.flows[0].missing()) << bond;
    EXPECT_EQ(out.report["unexplained_losses"], control::Json::array()) << bond;
    return out.snapshot.flows[0].missing();
  };
  const auto expect_silence = [](uint64_t lost) {
    EXPECT_GE(lost, 120'000U - 1'005U - 3'025U);
    EXPECT_LE(lost, 120'000U - 1'005U - 1'990U);
  };
  const std::string first = one_way("s1-h2-nic1:eth0", "out");
  expect_silence(dropped("lacp_rate: fast", first + ", " + one_way("s1-h2-nic1:eth1", "out")));
  expect_silence(dropped("lacp_rate: fast, remote_failover: none", first));
}

// The same where routes leave the host out, since its other ToR is of another plane: nobody is asked for its MAC.
TEST(LacpOfSwitches, KeepsAPortClosedWhoseLinkWorksAgainUntilLacpAgrees) {
  const std::string text = R"(
name: planes
run: {duration: 40s}
fabric: {kind: hpn, segments: 1, servers_per_segment: 2, rails: 1, aggregations_per_plane: 1,
         host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 400Gbps}, bond: {lacp_rate: fast}}
workload:
  - {name: w, pattern: pairs, from: [s1-h1-nic1], to: [s1-h2-nic1], message: 1024B, messages: 30000, mtu: 1024,
     rate: 8.976Mbps, start: 5s}
detection: {bfd: {interval: 50us}}
faults: [{at: 6005ms, link: "s1-h2-nic1:eth0", set: one_way, direction: out, until: 9505ms}]
)";
  const Outcome out = run_text(text);
  ASSERT_EQ(out.snapshot.flows.size(), 1U);
  // From when BFD sees it, 150 us, until the host's next LACPDU, at 10 s, and one look.
  EXPECT_GE(out.snapshot.flows[0].missing(), 3'990U);
  EXPECT_LE(out.snapshot.flows[0].missing(), 4'025U);
  EXPECT_GE(out.report["faults"][0]["loss_window"]["lost_packets"], out.snapshot.flows[0].missing());
}

// It hears nobody by either port, and everybody hears it. A second after it has given its partners up, at the latest,
// they know.
TEST(LacpOfBuiltInHosts, SendsNothingWhileNoPortIsAgreedOnAndLosesNothingBecauseOfIt) {
  std::string faults;
  for (const char* port : {"s1-h1-nic1:eth0", "s1-h1-nic1:eth1"})
    faults += one_way(port, "in", ", until: 40005ms") + (faults.empty() ? ", " : "");
  const Outcome out = run_bond("lacp_rate: fast", faults);
  ASSERT_EQ(out.snapshot.flows.size(), 1U);
  EXPECT_EQ(out.snapshot.flows[0].missing(), 0U);
  // 125 s but for the silence: from 3 s after its partners' last LACPDUs until they are heard, 30 s apart, and 2 s
  // more.
  EXPECT_LE(out.snapshot.flows[0].sent_packets, 125'000U - 31'000U);
  EXPECT_GE(out.snapshot.flows[0].sent_packets, 125'000U - 66'000U);
}

TEST(LossWindowsOfLacp, LastUntilLacpHasAgreedAgain) {
  // The host uses the link again 300 ms after its repair, and nothing leads around it.
  const Outcome out = run_bond("lacp_rate: fast, miimon: 1ms, updelay: 300ms, remote_failover: none",
                               "{at: 6005ms, link: \"s1-h2-nic1:eth0\", set: down}, {at: 6015ms, link: "
                               "\"s1-h2-nic1:eth0\", set: up}");
  const control::Json& window = out.report["faults"][0]["loss_window"];
  EXPECT_EQ(out.report["unexplained_losses"], control::Json::array());
  EXPECT_EQ(window["lost_packets"], out.snapshot.flows.at(0).missing());
  EXPECT_NEAR(window["lost_packets"].get<double>(), 315, 25);
  EXPECT_NEAR(window["ended_ps"].get<double>(), 6.015e12, 1e6);
  EXPECT_NEAR(window["recovered_ps"].get<double>(), 6.325e12, 15e9);
  // A ToR that was given up is called each 30 s, and waited for for 2 s.
  const Outcome dead = run_bond("lacp_rate: fast", "{at: 6005ms, node: s1-r1-tor1, set: dead, until: 60s}");
  EXPECT_GE(dead.report["faults"][0]["loss_window"]["recovered_ps"].get<double>(), 62e12);
  EXPECT_LE(dead.report["faults"][0]["loss_window"]["recovered_ps"].get<double>(), 93.1e12);
}

// Of the LACPDUs of a capture: who sent them, by system and port.
struct Actor {
  std::string system;
  uint32_t key;
  uint32_t port;
  friend auto operator<=>(const Actor&, const Actor&) = default;
};
std::set<Actor> actors_in(const std::string& capture) {
  // EtherType, LACP version 1, actor information of 20 bytes: system priority, system, key, port priority, port.
  const std::string start{"\x88\x09\x01\x01\x01\x14", 6};
  std::set<Actor> out;
  for (size_t at = capture.find(start); at != capture.npos; at = capture.find(start, at + 1)) {
    const std::string actor = capture.substr(at + start.size(), 14);
    const auto number = [&](size_t place) {
      return uint32_t{static_cast<uint8_t>(actor[place])} << 8 | static_cast<uint8_t>(actor[place + 1]);
    };
    out.insert({actor.substr(2, 6), number(8), number(12)});
  }
  return out;
}

// A host takes both for ports of one system, so they must not have one number; the hosts' bonds are systems of their
// own, with two ports each, and keys tell a ToR's hosts apart.
TEST(LacpOfSwitches, HasAPortNumberOfItsOwnAtEachOfAHostsToRs) {
  const Outcome out = run_text(text("lacp_rate: fast", ""), {.duration = Duration::s(7)}, true);
  const std::string common{"\x00\x00\x5e\x00\x01\x01", 6};
  std::map<uint32_t, std::set<uint32_t>> ports_by_key;
  std::map<std::string, std::set<uint32_t>> ports_of_hosts;
  for (const Actor& actor : actors_in(out.capture)) {
    if (actor.system == common) ports_by_key[actor.key].insert(actor.port);
    if (actor.system != common) ports_of_hosts[actor.system].insert(actor.port);
  }
  ASSERT_EQ(ports_by_key.size(), 2u) << "a key for each host";
  for (const auto& [key, ports] : ports_by_key) EXPECT_EQ(ports.size(), 2u) << "one at each ToR, key " << key;
  ASSERT_EQ(ports_of_hosts.size(), 2u);
  for (const auto& [system, ports] : ports_of_hosts) EXPECT_EQ(ports, (std::set<uint32_t>{1, 2}));
}

}  // namespace
}  // namespace softspine::testbeds
