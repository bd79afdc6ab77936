// SPDX-License-Identifier: Apache-2.0
// Links that go by credit: nothing is lost, nobody is paused, a small room limits the rate by the formula, and neither
// a bad cable nor a link that goes down and up again leaves anybody without credit.
#include "tests/harness/source_root.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

uint64_t of_total(const Outcome& out, const char* key) {
  return out.report["totals"][key].get<uint64_t>();
}
uint64_t pauses(const Outcome& out) {
  uint64_t sum = 0;
  for (const auto& [name, node] : out.report["switches"].items()) sum += node["pfc_tx_packets"].get<uint64_t>();
  for (const auto& [name, host] : out.report["hosts"].items()) sum += host["pfc_tx_packets"].get<uint64_t>();
  return sum;
}

// What a port's group of priority 3 ever held, at least, and of what it might have promised.
void expect_room_kept(const Outcome& out, uint64_t room_bytes) {
  for (const auto& node : out.snapshot.switches) {
    for (const auto& port : node.ports) {
      const control::PriorityGroupSnapshot& group = port.buffers->groups[3];
      EXPECT_LE(group.shared_watermark_bytes, room_bytes) << node.name << ":" << port.name;
      EXPECT_LE(group.headroom_watermark_bytes, room_bytes) << node.name << ":" << port.name;
    }
  }
}

// h1 → tor1 → spine1 → tor2 → h2; `fabric` and `xoff` of the links between the switches.
std::string path(const std::string& fabric, const std::string& xoff, const std::string& flow,
                 const std::string& rest = "") {
  return R"(
name: path
run: {duration: 400ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 100Gbps, length: 3m, flow_control: credit}, fabric_link: {rate: 100Gbps, flow_control: credit, )" +
         fabric + R"(}}
roles: {tor: mine, aggregation: mine}
profiles:
  mine: {base: lossless, mtu: 1280, BUFFER_PROFILE: {pg_lossless_auto_profile: {xoff: )" +
         xoff + R"(}}}
workload:
  - {name: w, pattern: pairs, from: [h1], to: [h2], mtu: 1024, dscp: 3, )" +
         flow + "}\n" + rest;
}

// A room of 22 cells, of which a frame takes 5 and the largest 6; a cable of 50 us. A frame's credit, told at once
// since it is a quarter of the room, is back after
//   T = its time into the switch + p + its time out of it + the credit frame's time + p
// and until then no more frames leave than the room holds: so many a T, however fast the link is.
TEST(CreditLinks, ASmallRoomLimitsTheRateByTheRoundTrip) {
  constexpr double kFrame = (1024 + 58 + 24) * 8 / 100e9;
  constexpr double kCreditFrame = (60 + 24) * 8 / 100e9;
  constexpr double kPropagation = 10'000 / 1.98e8;
  constexpr uint64_t kPackets = 8'000;
  const Outcome out = run_text(path("length: 10km", "5632B", "message: 8192000B, messages: 1"));
  const uint32_t cell = 256;
  const double frame_cells = (1082 + cell - 1) / cell;
  const double largest_cells = (1280 + 18 + cell - 1) / cell;
  const double room_cells = 5632 / cell;
  // While limit − sent ≥ the largest frame one more may go.
  const auto in_flight = static_cast<uint64_t>((room_cells - largest_cells) / frame_cells) + 1;
  const double round_trip = 2 * kFrame + 2 * kPropagation + kCreditFrame;
  const double expected = static_cast<double>(kPackets) / static_cast<double>(in_flight) * round_trip;
  ASSERT_EQ(out.snapshot.flows[0].received_packets, kPackets);
  EXPECT_NEAR(out.report["flows"]["w"]["fct_max_ps"].get<double>() * 1e-12, expected, expected * 0.002);
  EXPECT_EQ(of_total(out, "dropped_packets"), 0u);
  EXPECT_EQ(pauses(out), 0u);
  expect_room_kept(out, 5632);
  const double waited = out.report["switches"]["tor1"]["credit_wait_ps"].get<double>() * 1e-12;
  EXPECT_GT(waited, expected * 0.9) << "the uplink waits for credit nearly all the time";
}

TEST(CreditLinks, CarryTheLinksRateWhenTheRoomHoldsARoundTrip) {
  const Outcome out = run_text(path("length: 40m", "auto", "message: 64MiB, messages: 1"));
  const double payload = 64.0 * 1024 * 1024;
  const double expected = payload / 1024 * (1024 + 58 + 24) * 8 / 100e9;
  EXPECT_NEAR(out.report["flows"]["w"]["fct_max_ps"].get<double>() * 1e-12, expected, expected * 0.001);
  EXPECT_EQ(pauses(out), 0u);
}

// Every tenth frame in both directions is gone, credit frames too. Each has used credit that nobody gives back but by
// what the next credit frame says.
TEST(CreditLinks, ABadCableTakesFramesAndNoCredit) {
  const Outcome out = run_text(path("length: 40m", "8KiB", "message: 1MiB, messages: 40, rate: 9Gbps",
                                    "faults: [{at: 0s, link: \"tor1:Ethernet4\", set: lossy, drop: 10%}]\n"));
  const auto vanished = of_total(out, "vanished_on_links");
  EXPECT_GT(vanished, 3'000u);
  EXPECT_EQ(of_total(out, "sent_packets"), 40u * 1024);
  EXPECT_EQ(of_total(out, "held_packets"), 0u) << "nobody waits for credit when all is over";
  EXPECT_EQ(of_total(out, "dropped_packets"), 0u);
}

TEST(CreditLinks, ALinkThatComesBackBeginsAnew) {
  const Outcome out = run_text(path("length: 40m", "8KiB", "message: 1MiB, messages: 40, rate: 9Gbps",
                                    "faults: [{at: 5ms, link: \"tor1:Ethernet4\", set: down}, {at: 9ms, link: "
                                    "\"tor1:Ethernet4\", set: up}]\n"));
  EXPECT_EQ(of_total(out, "sent_packets"), 40u * 1024);
  EXPECT_EQ(of_total(out, "held_packets"), 0u);
  const auto& flow = out.snapshot.flows[0];
  EXPECT_GT(flow.received_packets, 40u * 1024 * 6 / 10) << "4 of 38 ms are lost";
  EXPECT_LT(flow.received_packets, 40u * 1024);
}

// The host takes 10 Gb/s of its 100: it is never sent more than it has room for, and says no pause.
TEST(CreditLinks, ASlowReceiverIsSentWhatItTakes) {
  const Outcome out = run_text(path("length: 40m", "auto", "message: 16MiB, messages: 1",
                                    "faults: [{at: 0s, node: h2, set: slow_receiver, drain: 10Gbps}]\n"));
  const double expected = 16.0 * 1024 * (1024 + 58) * 8 / 10e9;
  EXPECT_NEAR(out.report["flows"]["w"]["fct_max_ps"].get<double>() * 1e-12, expected, expected * 0.01);
  EXPECT_EQ(of_total(out, "dropped_packets"), 0u);
  EXPECT_EQ(pauses(out), 0u);
}

// Five switches in a ring, each sending two on: where pauses end in a deadlock (testbeds/deadlock.yaml), each waits for
// the next one's memory here, too, but in small portions that come back: nobody stands still until it asks.
TEST(CreditLinks, ARingOfWaitingSwitchesGoesOn) {
  std::string text = bytes_of(tests::source_root() / "testbeds" / "deadlock.yaml");
  text = text.substr(0, text.find("profiles:"));
  for (const std::string length : {"length: 40m", "length: 3m"}) {
    for (size_t at = text.find(length); at != std::string::npos; at = text.find(length, at + length.size())) {
      text.insert(at, "flow_control: credit, ");
      at += 22;
    }
  }
  text.replace(text.find("10ms"), 4, "20ms");
  const Outcome out = run_text(text + R"(
roles: {tor: lossless}
workload:
  - {name: round, pattern: pairs, from: [h1, h2, h3, h4, h5], to: [h3, h4, h5, h1, h2], message: 1MiB, messages: 64, mtu: 4096, dscp: 3}
)");
  // Every link of the ring has two flows: half its rate for each, if it were always busy.
  const double least = 64.0 * (1 << 20) / 4096 * (4096 + 58 + 24) * 8 / 50e9;
  EXPECT_EQ(of_total(out, "completed"), 5u);
  EXPECT_LT(out.report["flows"]["round"]["fct_max_ps"].get<double>() * 1e-12, least * 1.5);
  EXPECT_EQ(of_total(out, "deadlocks"), 0u);
}

TEST(CreditLinks, AreTheSameForAnyNumberOfWorkers) {
  const std::string text = bytes_of(tests::source_root() / "testbeds" / "credit-incast.yaml");
  const Outcome one = run_text(text, {.workers = 1}, true);
  const Outcome two = run_text(text, {.workers = 2}, true);
  EXPECT_EQ(one.capture, two.capture) << "to the byte";
}

}  // namespace
}  // namespace softspine::testbeds
