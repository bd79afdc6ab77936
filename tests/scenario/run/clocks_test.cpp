// SPDX-License-Identifier: Apache-2.0
// Clocks differ and packets start late: what that changes, and how far.
#include <fmt/format.h>

#include <cmath>

#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// `senders` hosts write 8,192 packets each, at line rate, to the host behind the last port of one switch, whose queue
// takes 5.2 MB and then drops.
std::string incast(int senders, const std::string& run) {
  std::string hosts;
  std::string links;
  std::string flows;
  for (int n = 0; n <= senders; ++n) {
    hosts += fmt::format(", h{}: {{kind: host}}", n);
    links += fmt::format("    - {{endpoints: [dut, h{}], rate: 100Gbps, length: 3m}}\n", n);
    if (n == senders) continue;
    flows += fmt::format("  - {{name: f{}, pattern: pairs, from: h{}, to: h{}, message: 32MiB, mtu: 4096}}\n", n, n,
                         senders);
  }
  return fmt::format(
      "name: incast\nrun: {{duration: 40ms{}}}\ntopology:\n  nodes: {{dut: {{kind: switch, role: tor}}{}}}\n  "
      "links:\n{}"
      "profiles:\n  lossy: {{queue_limit: 5200000B}}\nroles: {{tor: lossy}}\nworkload:\n{}",
      run, hosts, links, flows);
}

std::vector<uint64_t> lost(const Outcome& out) {
  std::vector<uint64_t> each;
  for (const control::FlowSnapshot& flow : out.snapshot.flows) each.push_back(flow.missing());
  return each;
}

// Frames of equal senders that keep in step meet a full queue in the same order for ever.
TEST(Clocks, InStepTheFirstOfTwoLikeSendersLosesNothing) {
  const auto each = lost(run_text(incast(2, ", clock_ppm: 0, start_jitter: 0%")));
  EXPECT_EQ(each[0], 0U);
  EXPECT_GT(each[1], 6'000U);
}

// Each gap of either sender draws the order anew, 64 times on average in 8,192 packets of each; an order lasts for
// about two gaps of one sender before both have changed. So the share of one is one half, with a standard deviation of
// about 0.5 / √32 = 9 %. A measured switch, whose senders sent for longer, came to within 0.5 % of one half.
TEST(Clocks, ByItselfTwoLikeSendersShareTheLoss) {
  double sum = 0;
  std::vector<uint64_t> first;
  constexpr int kSeeds = 12;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto each = lost(run_text(incast(2, ", clock_ppm: 100, start_jitter: 100%"), {.seed = seed}));
    ASSERT_EQ(each.size(), 2U) << "after a failure nothing runs";
    const double share = static_cast<double>(each[0]) / static_cast<double>(each[0] + each[1]);
    EXPECT_NEAR(share, 0.5, 0.27) << "seed " << seed;
    sum += share;
    first.push_back(each[0]);
  }
  EXPECT_NEAR(sum / kSeeds, 0.5, 3 * 0.09 / std::sqrt(kSeeds));
  std::ranges::sort(first);
  EXPECT_EQ(std::ranges::unique(first).size(), 0U) << "seeds differ";
}

TEST(Clocks, ByItselfEightLikeSendersShareTheLoss) {
  const auto each = lost(run_text(incast(8, ", clock_ppm: 100, start_jitter: 100%")));
  const double mean = std::accumulate(each.begin(), each.end(), 0.0) / 8;
  for (const uint64_t packets : each) EXPECT_NEAR(static_cast<double>(packets) / mean, 1, 0.1);
}

// Two hosts back to back: what one sends is the other's by the sender's clock alone.
constexpr const char* kBackToBack = R"(
name: pair
run: {{duration: 60ms{}}}
topology:
  nodes: {{a: {{kind: host}}, b: {{kind: host}}}}
  links: [{{endpoints: [a, b], rate: 100Gbps, length: 3m}}]
workload:
  - {{name: f, pattern: pairs, from: a, to: b, message: 4KiB, messages: 50000, mtu: 4096{}}}
)";
// Ethernet 14, IPv4 20, UDP 8, BTH 12, RETH 16, payload, ICRC 4, and 24 of preamble, FCS and gap.
constexpr double kPacketWireBytes = 14 + 20 + 8 + 12 + 16 + 4096 + 4 + 24;
constexpr double kSentPackets = 50'000;
constexpr double kPacketPs = kPacketWireBytes * 80;

double completion_of(const std::string& run, const std::string& flow, uint64_t seed = 1) {
  const Outcome out = run_text(fmt::format(fmt::runtime(kBackToBack), run, flow), {.seed = seed});
  return static_cast<double>(out.snapshot.flows.at(0).completion.value().count_ps());
}
const double kPropagationPs = 3 / 1.98e8 * 1e12;

TEST(Clocks, APacketTakesItsTimeByTheSendersClock) {
  for (const uint64_t seed : {1, 2, 3}) {
    const control::Testbed testbed =
        testbed_of(fmt::format(fmt::runtime(kBackToBack), ", clock_ppm: 100", ""), {.seed = seed});
    const double offset = testbed.fabric.nodes[0].clock.count_ppb() * 1e-9;
    EXPECT_GT(std::abs(offset), 1e-7) << "seed " << seed;
    // A packet's time is rounded to a picosecond.
    EXPECT_NEAR(completion_of(", clock_ppm: 100", "", seed), kSentPackets * kPacketPs / (1 + offset) + kPropagationPs,
                kSentPackets * 0.5 + 1);
  }
}

// A gap of T/2 on average behind every 128th packet, uniform in T: standard deviation below 1/√3 T of a gap, and as
// much again by how many there are.
TEST(Clocks, GapsCostASenderAtLineRateOneIn256) {
  const double gaps = kSentPackets / 128;
  EXPECT_NEAR(completion_of(", start_jitter: 100%", ""), (kSentPackets + gaps / 2) * kPacketPs + kPropagationPs,
              4 * std::sqrt(gaps) * kPacketPs / std::sqrt(3));
  EXPECT_NEAR(completion_of(", start_jitter: 20%", ""), (kSentPackets + gaps / 10) * kPacketPs + kPropagationPs,
              4 * std::sqrt(gaps) * 0.2 * kPacketPs / std::sqrt(3));
}

// Lateness of one packet is not the next one's: from the first packet to the last there are N − 1 intervals, and both
// may be late by less than their time.
TEST(Clocks, APacedFlowKeepsItsMeanRate) {
  const double exact = completion_of("", ", rate: 40Gbps");
  EXPECT_NEAR(exact, (kSentPackets - 1) * kPacketPs * 2.5 + kPacketPs + kPropagationPs, kSentPackets);
  const double late = completion_of(", start_jitter: 100%", ", rate: 40Gbps");
  EXPECT_NE(late, exact);
  EXPECT_NEAR(late, exact, kPacketPs);
}

}  // namespace
}  // namespace softspine::testbeds
