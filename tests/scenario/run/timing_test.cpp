// SPDX-License-Identifier: Apache-2.0
// Whole testbeds against closed formulas: latencies to the picosecond, rates, ECMP, determinism.
#include <fmt/format.h>

#include "control/format/quantity.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::Duration;
using dataplane::Rate;

constexpr int64_t kMetrePs = 5'050'505;  // of a kilometre of fibre: 1 km / 1.98e8 m/s = 5.0505… us

// RoCEv2's frame around `payload` bytes of an RDMA write's middle packet: Ethernet, IPv4, UDP, BTH, ICRC.
constexpr uint32_t frame_of(uint32_t payload) {
  return 14 + 20 + 8 + 12 + payload + 4;
}
constexpr uint32_t kReth = 16;  // the first packet of a write has one more header

TEST(TestbedTiming, OnePacketTakesTheSumOfSerialisationAndPropagation) {
  // One packet, three switches, links of different rates and lengths.
  const std::string text = R"(
name: one
run: {duration: 1ms}
topology:
  nodes:
    t1: {kind: switch}
    s1: {kind: switch, role: aggregation}
    t2: {kind: switch}
    a: {kind: host}
    b: {kind: host}
  links:
    - {endpoints: [a, t1], rate: 100Gbps, length: 3m}
    - {endpoints: [t1, s1], rate: 400Gbps, length: 1km}
    - {endpoints: [s1, t2], rate: 40Gbps, length: 40m}
    - {endpoints: [t2, b], rate: 10Gbps, length: 3m}
workload:
  - {name: w, pattern: pairs, from: [a], to: [b], message: 1024B, messages: 1, mtu: 1024, source_port: 50000}
)";
  const Outcome out = run_text(text);
  ASSERT_EQ(out.snapshot.flows.size(), 1U);
  // By hand: (frame + 24) × 8 bits at each rate; length / 1.98e8 m/s, each rounded to the picosecond.
  const int64_t bits = (frame_of(1024) + kReth + 24) * 8;
  const int64_t serialisation = bits * 1'000 / 100 + bits * 1'000 / 400 + bits * 1'000 / 40 + bits * 1'000 / 10;
  const int64_t propagation = 15'152 + kMetrePs + 202'020 + 15'152;
  EXPECT_EQ(out.snapshot.flows[0].latency.min_ps, static_cast<uint64_t>(serialisation + propagation));
  EXPECT_EQ(out.snapshot.flows[0].latency.max_ps, static_cast<uint64_t>(serialisation + propagation));
  EXPECT_EQ(out.snapshot.flows[0].completion, Duration::ps(serialisation + propagation));
}

class Rates : public testing::TestWithParam<std::tuple<const char*, uint32_t>> {};

TEST_P(Rates, AreWhatTheLinkAndTheFrameSizeSay) {
  const auto& [rate, mtu] = GetParam();
  const std::string text = fmt::format(R"(
name: rates
run: {{duration: 10s}}
fabric: {{kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {{rate: {0}}}, fabric_link: {{rate: {0}}}}}
workload:
  - {{name: w, pattern: pairs, from: [h1], to: [h2], message: 1MiB, messages: 64, mtu: {1}}}
)",
                                       rate, mtu);
  const Outcome out = run_text(text);
  const auto bps = control::parse_quantity(rate, control::kRateQuantity);
  ASSERT_EQ(out.snapshot.flows.size(), 1U);
  ASSERT_TRUE(out.snapshot.flows[0].completion);
  const double expected = static_cast<double>(*bps) * mtu / (frame_of(mtu) + 24);
  EXPECT_NEAR(out.snapshot.flows[0].goodput_bps() / expected, 1, 0.001);
}

INSTANTIATE_TEST_SUITE_P(LinksAndSizes, Rates,
                         testing::Combine(testing::Values("1Gbps", "100Gbps", "400Gbps"),
                                          testing::Values(256U, 1024U, 4096U)));

constexpr const char* kBusyFabric = R"(
name: busy
run: {duration: 300us, seed: 5}
fabric: {kind: leaf-spine, tors: 3, spines: 2, hosts_per_tor: 4, host_link: {rate: 100Gbps, length: 2m},
         fabric_link: {rate: 100Gbps, length: 30m}}
profiles: {default: {queue_limit: 64KiB}}
workload:
  - {name: all, pattern: all_to_all, message: 16KiB, messages: 2, mtu: 1024}
  - {name: in, pattern: incast, from: 7, to: h1, message: 64KiB, qps: 2, mtu: 4096, start: 10us}
faults:
  - {at: 60us, link: "tor1:Ethernet16", set: down}
  - {at: 150us, link: "tor1:Ethernet16", set: up}
convergence: 20us
)";

TEST(TestbedDeterminism, GivesTheSameBytesForAnyNumberOfWorkers) {
  const Outcome one = run_text(kBusyFabric, {.workers = 1}, true);
  ASSERT_GT(one.capture.size(), 100'000U);
  EXPECT_GT(one.report["totals"]["drops"]["queue_full"].get<uint64_t>(), 0U) << "the case is too easy";
  for (const uint32_t workers : {1U, 2U, 3U}) {
    const Outcome again = run_text(kBusyFabric, {.workers = workers}, true);
    EXPECT_TRUE(again.capture == one.capture) << workers << " workers";
    EXPECT_EQ(without_engine(again.report), without_engine(one.report)) << workers << " workers";
  }
}

// Its links go down one after the other: what waits behind the first ends, which clears XOFFs, and the XONs begin to
// leave on links that are next. A frame that is sent in such an action is on its link at once, whoever owns the peer.
TEST(TestbedDeterminism, ASwitchThatGoesDownWithItsNeighboursPausedGivesTheSameBytes) {
  for (const std::string at : {"200us", "300001ns"}) {
    const std::string text = fmt::format(R"(
name: down
run: {{duration: 400us, seed: 1}}
fabric: {{kind: leaf-spine, tors: 3, spines: 2, hosts_per_tor: 4, host_link: {{rate: 100Gbps, length: 3m}},
         fabric_link: {{rate: 400Gbps, length: 40m}}}}
profiles: {{default: {{base: sonic-tomahawk-100g-40m}}}}
workload:
  - {{name: in, pattern: incast, from: [h5, h6, h7, h8, h9, h10, h11, h12], to: h1, message: 2MiB, messages: 4, mtu: 4096, dscp: 3}}
faults:
  - {{at: {0}, node: tor1, set: down}}
  - {{at: 350us, node: tor1, set: up}}
convergence: 20us
)",
                                         at);
    const Outcome one = run_text(text, {.workers = 1}, true);
    EXPECT_GT(one.report["switches"]["tor1"]["pfc_tx_packets"].get<uint64_t>(), 0U) << "the case is too easy";
    for (const uint32_t workers : {2U, 3U}) {
      const Outcome again = run_text(text, {.workers = workers}, true);
      EXPECT_TRUE(again.capture == one.capture) << workers << " workers, down at " << at;
      EXPECT_EQ(without_engine(again.report), without_engine(one.report)) << workers << " workers, down at " << at;
    }
  }
}

TEST(TestbedDeterminism, DrawsOtherFlowsWithAnotherSeed) {
  const std::string permutation = R"(
name: drawn
run: {duration: 1ms}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 8, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload: [{name: p, pattern: permutation, message: 4KiB}]
)";
  const auto pairs_of = [](const Outcome& out) {
    std::string text;
    for (const auto& flow : out.snapshot.flows) text += flow.source + ">" + flow.destination + " ";
    return text;
  };
  const std::string first = pairs_of(run_text(permutation, {.seed = 1}));
  EXPECT_EQ(first, pairs_of(run_text(permutation, {.seed = 1})));
  EXPECT_NE(first, pairs_of(run_text(permutation, {.seed = 2})));
}

}  // namespace
}  // namespace softspine::testbeds
