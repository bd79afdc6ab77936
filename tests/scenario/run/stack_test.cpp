// SPDX-License-Identifier: Apache-2.0
// Two ToRs that are one system: what each of them does when the other one, or the link between them, fails. All
// instants by arithmetic: keepalives every 10 us, lost after 50 us, nothing concluded for another 30 us, ports open
// after 200 us.
#include <fmt/format.h>

#include <iterator>
#include <sstream>

#include "control/expect/judge.hpp"
#include "control/report/stack_json.hpp"
#include "testbeds/run/event_log.hpp"
#include "testbeds/run/lacp_control.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "testbeds/run/stack_control.hpp"
#include "tests/harness/source_root.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;
using dataplane::Duration;
using dataplane::Instant;

constexpr const char* kInRack = "from: [s1-h1-nic1], to: [s1-h2-nic1]";
constexpr const char* kStack =
    "  stacks: {rack: {switches: [s1-r1-tor1, s1-r1-tor2], keepalive_interval: 10us, keepalive_timeout: 50us, "
    "hold_timeout: 30us, delay_restore: 200us";
constexpr uint64_t kMessages = 400;  // of 16 frames of 333.6 ns: 2.1 ms on a link of their own

std::string racks(const std::string& stacks, const std::string& hosts, const std::string& faults) {
  return fmt::format(
      "name: stack\nrun: {{duration: 9ms}}\n"
      "fabric: {{kind: hpn, segments: 2, servers_per_segment: 2, rails: 1, planes: 1, aggregations_per_plane: 1,\n"
      "  host_link: {{rate: 100Gbps, length: 3m}}, fabric_link: {{rate: 400Gbps}}, bond: {{miimon: 10us}}}}\n"
      "topology:\n  links: [{{endpoints: [s1-r1-tor1, s1-r1-tor2], rate: 400Gbps, length: 3m}}]\n{}"
      "profiles: {{default: {{base: lossless}}}}\n"
      "workload: [{{name: w, pattern: pairs, {}, message: 64KiB, messages: {}, mtu: 4096, qps: 2, transport: rc, "
      "ack_timeout: 6}}]\nfaults: [{}]\n",
      stacks, hosts, kMessages, faults);
}
std::string stacked(const std::string& faults, const std::string& more = "", const std::string& hosts = kInRack) {
  return racks(kStack + more + "}}\n", hosts, faults);
}
Outcome run_stacked(const std::string& faults, const std::string& more = "", const std::string& hosts = kInRack) {
  return run_text(stacked(faults, more, hosts));
}

const Json& stack_of(const Outcome& out) {
  return out.report["stacks"]["rack"];
}
// "primary active", of tor1 or tor2.
std::string member(const Outcome& out, int tor) {
  const Json& is = stack_of(out)["members"][fmt::format("s1-r1-tor{}", tor)];
  return is["role"].get<std::string>() + " " + is["state"].get<std::string>();
}
uint64_t count(const Outcome& out, int tor, const char* key) {
  return stack_of(out)["members"][fmt::format("s1-r1-tor{}", tor)][key].get<uint64_t>();
}
uint64_t total(const Outcome& out, const char* key) {
  return out.report["totals"][key].get<uint64_t>();
}
const control::HostSnapshot& sender(const Outcome& out) {
  return *std::ranges::find(out.snapshot.hosts, "s1-h1-nic1", &control::HostSnapshot::name);
}

// When what the text is a part of happened for the first time, in microseconds; -1: never.
double instant_of(const Outcome& out, const std::string& text) {
  for (const Json& each : out.report["faults"]) {
    if (each["what"].get<std::string>().find(text) != std::string::npos) return each["at_ps"].get<double>() * 1e-6;
  }
  return -1;
}

// Of a member's ports: to the other member, or up.
std::string port_of(const control::Testbed& testbed, control::Role peer) {
  const control::Fabric& fabric = testbed.fabric;
  const uint32_t tor = fabric.stacks[0].switches[0];
  for (uint16_t p = 0; p < fabric.nodes[tor].ports.size(); ++p) {
    if (fabric.nodes[fabric.peer_of({tor, p}).node].role == peer) return fabric.name_of({tor, p});
  }
  return "none";
}

std::string peer_link() {
  return "link: \"" + port_of(testbed_of(stacked("")), control::Role::kTor) + "\"";
}

TEST(Stack, ShippedIsAsItExpectsItselfToBe) {
  const auto testbed = control::load_testbed(tests::source_root() / "testbeds" / "stacked-dual-tor-failure.yaml");
  ASSERT_TRUE(testbed) << to_string(testbed.error().front());
  ASSERT_FALSE(testbed->expectations.empty());
  const Outcome out = run_whole(*testbed);
  for (const control::Verdict& verdict : control::judge(testbed->expectations, out.report)) {
    EXPECT_TRUE(verdict.held) << verdict.text;
  }
}

constexpr const char* kPrimaryDies = "{at: 505us, node: s1-r1-tor1, set: dead}";

TEST(Stack, APrimaryWhoseDataPlaneDiesTakesTheRackWithIt) {
  const Outcome out = run_stacked(kPrimaryDies);
  EXPECT_EQ(instant_of(out, "the peer link is lost"), 550) << "the last keepalive came at 500 us";
  EXPECT_EQ(instant_of(out, "s1-r1-tor2 shuts its ports to hosts"), 580);
  EXPECT_EQ(member(out, 1), "primary alone");
  EXPECT_EQ(member(out, 2), "secondary disabled");
  EXPECT_EQ(count(out, 2, "disables"), 1U);
  EXPECT_EQ(stack_of(out)["peers"], false);
  EXPECT_EQ(total(out, "stalled_flows"), 2U);
  EXPECT_EQ(total(out, "completed"), 0U);
  EXPECT_EQ(out.report["unexplained_losses"], Json::array());
}

// Two ToRs with the same cable between them that are no stack, and two that only the peer link joins.
TEST(Stack, TorsThatDoNotKnowThatBothLiveSurviveIt) {
  const Outcome apart = run_text(racks("", kInRack, kPrimaryDies));
  EXPECT_EQ(total(apart, "completed"), 2U);
  EXPECT_TRUE(apart.report["stacks"].empty());
  const Outcome split = run_stacked(kPrimaryDies, ", management: false");
  EXPECT_EQ(instant_of(split, "s1-r1-tor2 goes on alone"), 550 + 30 + 50);
  EXPECT_EQ(member(split, 1), "primary alone");
  EXPECT_EQ(member(split, 2), "primary alone");
  EXPECT_EQ(stack_of(split)["split_brains"], 1);
  EXPECT_EQ(total(split, "completed"), 2U);
}

TEST(Stack, ASecondaryWhoseDataPlaneDiesLeavesItsHostsToThePrimary) {
  const Outcome out = run_stacked("{at: 505us, node: s1-r1-tor2, set: dead}");
  EXPECT_EQ(instant_of(out, "s1-r1-tor2 shuts its ports to hosts"), 580);
  EXPECT_EQ(sender(out).counters.failovers, 1U) << "its bond sees the port that is shut";
  EXPECT_EQ(total(out, "completed"), 2U);
}

TEST(Stack, ASecondaryReplacesAPrimaryThatIsDownAndStaysThePrimary) {
  const Outcome out = run_stacked("{at: 505us, node: s1-r1-tor1, set: down}, {at: 1500us, node: s1-r1-tor1, set: up}");
  EXPECT_EQ(instant_of(out, "the peer link is lost"), 505);
  EXPECT_EQ(instant_of(out, "s1-r1-tor2 goes on alone"), 505 + 30 + 50);
  EXPECT_EQ(instant_of(out, "s1-r1-tor1 is back, as the secondary"), 1500);
  EXPECT_EQ(instant_of(out, "s1-r1-tor1 opens its ports to hosts"), 1700);
  EXPECT_EQ(member(out, 1), "secondary active");
  EXPECT_EQ(member(out, 2), "primary active");
  EXPECT_EQ(count(out, 2, "takeovers"), 1U);
  EXPECT_EQ(count(out, 2, "disables"), 0U);
  EXPECT_EQ(stack_of(out)["split_brains"], 0);
  EXPECT_EQ(sender(out).counters.flows_moved, 2U) << "there, and back when the port opens";
  EXPECT_EQ(total(out, "completed"), 2U);
  EXPECT_EQ(out.report["unexplained_losses"], Json::array());
}

TEST(Stack, APortOfASwitchThatIsBackCarriesNothingBeforeDelayRestore) {
  const auto by_eth0 = [](int64_t end_us) {
    std::string faults = "{at: 505us, node: s1-r1-tor1, set: down}";
    if (end_us > 1'503) faults += ", {at: 1503us, node: s1-r1-tor1, set: up}";
    control::Overrides until;
    until.duration = Duration::us(end_us);
    return sender(run_text(stacked(faults), until)).ports[0].link.packets;
  };
  EXPECT_EQ(by_eth0(600), by_eth0(1'709)) << "keepalives pass again at 1510 us";
  EXPECT_GT(by_eth0(1'740), by_eth0(1'709));
}

TEST(Stack, WithoutItsPeerLinkIsThePrimaryAlone) {
  const std::string link = peer_link();
  const Outcome out = run_stacked("{at: 505us, " + link + ", set: down}, {at: 1500us, " + link + ", set: up}");
  EXPECT_EQ(instant_of(out, "the peer link is lost"), 505);
  EXPECT_EQ(instant_of(out, "s1-r1-tor2 shuts its ports to hosts"), 540) << "the first keepalive from 535 us on";
  EXPECT_EQ(instant_of(out, "keepalives pass the peer link again"), 1500);
  EXPECT_EQ(instant_of(out, "s1-r1-tor2 opens its ports to hosts"), 1700);
  EXPECT_EQ(member(out, 1), "primary active");
  EXPECT_EQ(member(out, 2), "secondary active");
  EXPECT_EQ(sender(out).counters.failovers, 1U);
  EXPECT_EQ(total(out, "completed"), 2U);
  EXPECT_EQ(out.report["unexplained_losses"], Json::array());
}

// Two peer links, which are a LAG.
Outcome run_with_lag(const std::string& lag, const std::string& faults, Duration duration = Duration::ms(9)) {
  std::string text =
      racks(std::string(kStack) + "}}\n  lags: [{name: peer, between: [s1-r1-tor1, s1-r1-tor2], " + lag + "}]\n",
            kInRack, faults);
  const std::string link = "{endpoints: [s1-r1-tor1, s1-r1-tor2], rate: 400Gbps, length: 3m}";
  text.insert(text.find(link), link + ", ");
  control::Overrides until;
  until.duration = duration;
  return run_text(text, until);
}

TEST(Stack, HearsItsPeerByALagWhileItHasMinLinks) {
  const std::string fault = "{at: 505us, " + peer_link() + ", set: down}";
  EXPECT_EQ(stack_of(run_with_lag("min_links: 1", fault))["peer_losses"], 0);
  const Outcome out = run_with_lag("min_links: 2", fault);
  EXPECT_EQ(instant_of(out, "the peer link is lost"), 505);
  EXPECT_EQ(count(out, 2, "disables"), 1U);
}

// From 3 s to 13 s neither keepalives nor LACPDUs pass. The peer is heard at once then; LACP, which has given its
// partner up, agrees when a LACPDU of the slow rate comes.
TEST(Stack, DoesNotUseAPeerLinkOnWhichLacpHasNotAgreed) {
  const auto members_at = [](Duration end, const std::string& fault) {
    const Outcome out = run_with_lag("mode: lacp, fast_rate: true", fault, end);
    EXPECT_EQ(stack_of(out)["peers"], true);
    return out.report["lags"]["peer"]["members_up"].get<int>();
  };
  const std::string dies = "{at: 3s, until: 13s, node: s1-r1-tor2, set: dead}";
  EXPECT_EQ(members_at(Duration::ms(2'900), ""), 2);
  EXPECT_EQ(members_at(Duration::ms(13'050), dies), 0);
  EXPECT_EQ(members_at(Duration::s(60), dies), 2);
}

TEST(Stack, BearsWhatIsShorterThanItsTimers) {
  const std::string link = peer_link();
  const Outcome down = run_stacked("{at: 505us, " + link + ", set: down}, {at: 520us, " + link + ", set: up}");
  EXPECT_EQ(stack_of(down)["peer_losses"], 1);
  EXPECT_EQ(count(down, 2, "disables"), 0U);
  EXPECT_EQ(member(down, 2), "secondary active");
  const Outcome dead = run_stacked("{at: 505us, until: 541us, " + link + ", set: dead}");
  EXPECT_EQ(stack_of(dead)["peer_losses"], 0) << "one comes at 550 us";
  const Outcome longer = run_stacked("{at: 505us, until: 551us, " + link + ", set: dead}");
  EXPECT_EQ(stack_of(longer)["peer_losses"], 1) << "none came from 500 to 550 us";
  EXPECT_EQ(count(longer, 2, "disables"), 0U);
}

TEST(Stack, ADisabledSecondaryReplacesAPrimaryThatGoesDownAltogether) {
  const Outcome out = run_stacked(std::string(kPrimaryDies) + ", {at: 1000us, node: s1-r1-tor1, set: down}");
  EXPECT_EQ(instant_of(out, "s1-r1-tor2 goes on alone"), 1000 + 30 + 50);
  EXPECT_EQ(member(out, 1), "primary down");
  EXPECT_EQ(member(out, 2), "primary alone");
  EXPECT_EQ(stack_of(out)["split_brains"], 0);
  EXPECT_EQ(total(out, "completed"), 2U);
}

TEST(Stack, RolesAreThoseOfTheFileWhenBothComeBack) {
  const std::string both = "{at: 505us, rack: s1-r1-tor1, set: down}, {at: 800us, rack: s1-r1-tor1, set: up}";
  const Outcome out = run_stacked(both, ", primary: s1-r1-tor2");
  EXPECT_EQ(instant_of(out, "opens its ports to hosts"), 1000);
  EXPECT_EQ(member(out, 1), "secondary active");
  EXPECT_EQ(member(out, 2), "primary active");
  EXPECT_EQ(total(out, "completed"), 2U);
}

// By ARP and ND, too.
constexpr double kFewFrames = 4;

TEST(Stack, AMemberWithoutLinkToAHostSendsOverThePeerLink) {
  const std::string faults = "{at: 0us, link: s1-h2-nic1:eth0, set: down}";
  const Outcome out = run_stacked(faults);
  const std::string peer = port_of(testbed_of(stacked(faults)), control::Role::kTor);
  EXPECT_EQ(total(out, "completed"), 2U);
  EXPECT_EQ(total(out, "missing_packets"), 0U);
  EXPECT_NEAR(out.report["links"][peer]["tx_packets"].get<double>(), 16 * kMessages, kFewFrames)
      << "what h1 sends by eth0";
}

TEST(Stack, AMemberWithoutUplinkSendsOverThePeerLink) {
  const std::string remote = "from: [s1-h1-nic1], to: [s2-h1-nic1]";
  const std::string up = port_of(testbed_of(stacked("")), control::Role::kAggregation);
  const std::string faults = "{at: 0us, link: \"" + up + "\", set: down}";
  const Outcome out = run_stacked(faults, "", remote);
  const std::string peer = port_of(testbed_of(stacked(faults)), control::Role::kTor);
  EXPECT_EQ(total(out, "completed"), 2U);
  EXPECT_NEAR(out.report["links"][peer]["tx_packets"].get<double>(), 16 * kMessages, kFewFrames);
  const Outcome apart = run_text(racks("", remote + ", retries: 0", faults));
  EXPECT_LT(total(apart, "completed"), 2U);
}

TEST(Stack, DecidesTheSameOnAnyNumberOfWorkers) {
  const auto report = [](uint32_t workers) {
    control::Overrides over;
    over.workers = workers;
    Json out = run_text(stacked(kPrimaryDies), over).report;
    out.erase("engine");
    return out;
  };
  EXPECT_EQ(report(1), report(3));
}

TEST(Stack, DecisionsAreEvents) {
  const control::Testbed testbed = testbed_of(stacked(kPrimaryDies));
  auto fabric = RunningFabric::make(testbed, {.run_folder = {}, .capture = std::nullopt});
  ASSERT_TRUE(fabric);
  const auto path = std::filesystem::path(testing::TempDir()) / fmt::format("stack-{}.jsonl", getpid());
  ASSERT_TRUE((*fabric)->part<EventLog>().open(path.string()));
  ASSERT_TRUE((*fabric)->run());
  const std::string lines = bytes_of(path);
  std::filesystem::remove(path);
  EXPECT_NE(lines.find(R"({"t_ps":550000000,"event":"stack","what":"stack rack: the peer link is lost"})"),
            std::string::npos);
  EXPECT_NE(lines.find(R"({"t_ps":580000000,"event":"stack","what":"stack rack: s1-r1-tor2 shuts)"), std::string::npos);
}

TEST(Stack, IsShownWithARowForEachMember) {
  const Outcome out = run_stacked(kPrimaryDies);
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines{control::stacks_table(out.snapshot)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    rows.emplace_back(std::istream_iterator<std::string>{words}, std::istream_iterator<std::string>{});
  }
  ASSERT_EQ(rows.size(), 4u) << "a head, a rule, and a row for each";
  const std::string split = std::to_string(stack_of(out)["split_brains"].get<uint64_t>());
  for (const int tor : {1, 2}) {
    const Json& is = stack_of(out)["members"][fmt::format("s1-r1-tor{}", tor)];
    const std::vector<std::string> wanted{"rack",
                                          "lost",
                                          fmt::format("s1-r1-tor{}", tor),
                                          is["role"],
                                          is["state"],
                                          std::to_string(count(out, tor, "disables")),
                                          std::to_string(count(out, tor, "takeovers")),
                                          split};
    EXPECT_EQ(rows[static_cast<size_t>(tor) + 1], wanted);
  }
  EXPECT_EQ(member(out, 2), "secondary disabled");
  EXPECT_EQ(count(out, 2, "disables"), 1u);
}

TEST(Keepalives, GoAtEveryMultipleAndAreLostAtTheVeryInstantOfAFault) {
  const auto us = [](int64_t n) { return Instant::at(Duration::us(n)); };
  const Duration interval = Duration::us(10);
  EXPECT_EQ(next_keepalive(us(0), interval), us(0));
  EXPECT_EQ(next_keepalive(us(20), interval), us(20));
  EXPECT_EQ(next_keepalive(us(21), interval), us(30));
  EXPECT_EQ(last_keepalive(us(0), interval), us(0));
  EXPECT_EQ(last_keepalive(us(20), interval), us(10));
  EXPECT_EQ(last_keepalive(us(21), interval), us(20));
}

TEST(LacpSystem, IsThePrimarysForBothOfAStackAndTheCommonOneElsewhere) {
  const auto systems = [](const std::string& stacks) {
    const control::Fabric fabric = testbed_of(racks(stacks, kInRack, "")).fabric;
    return std::array{lacp_system(fabric, fabric.subnets[0]), lacp_system(fabric, fabric.subnets[1])};
  };
  constexpr dataplane::MacAddress kCommon{0x00, 0x00, 0x5e, 0x00, 0x01, 0x01};
  EXPECT_EQ(systems("")[0], kCommon);
  const auto [stack, other] = systems(std::string(kStack) + ", primary: s1-r1-tor2}}\n");
  const control::Fabric fabric = testbed_of(stacked("", ", primary: s1-r1-tor2")).fabric;
  EXPECT_EQ(stack, fabric.nodes[fabric.stacks[0].switches[0]].ports[0].mac.bytes);
  EXPECT_EQ(other, kCommon);
}

}  // namespace
}  // namespace softspine::testbeds
