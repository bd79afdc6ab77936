// SPDX-License-Identifier: Apache-2.0
// Bad cables and ports that don't listen.
#include <cmath>

#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

using Core = Bench<pipelines::Core>;

constexpr uint32_t kSentFrames = 20'000;

LinkCounters wire_after(uint64_t seed, std::vector<uint16_t>* arrived = nullptr) {
  Core bench;
  Transmitter& wire = bench.node().transmitter(PortNo{4});
  wire.set_fault(std::make_unique<LinkFault>(LinkFault::kEvery / 10, LinkFault::kEvery / 20, Rng{seed, 4}));
  for (uint16_t i = 0; i < kSentFrames; ++i) bench.send(6, data_frame(0, i, 100));
  bench.run_for(Duration::ms(2));
  for (const Frame& frame : bench.run()) {
    if (arrived != nullptr) arrived->push_back(static_cast<uint16_t>(frame.bytes[18] << 8 | frame.bytes[19]));
  }
  return wire.counters();
}

// Within 4.5 standard deviations.
TEST(LinkFaults, TakeTheirShareOfFramesAndCountThem) {
  std::vector<uint16_t> arrived;
  const LinkCounters wire = wire_after(7, &arrived);
  EXPECT_EQ(wire.packets, kSentFrames);
  EXPECT_NEAR(static_cast<double>(wire.vanished_packets), kSentFrames * 0.1, 4.5 * std::sqrt(kSentFrames * 0.1 * 0.9));
  EXPECT_NEAR(static_cast<double>(wire.damaged_packets), kSentFrames * 0.05,
              4.5 * std::sqrt(kSentFrames * 0.05 * 0.95));
  EXPECT_EQ(arrived.size(), kSentFrames - wire.vanished_packets - wire.damaged_packets);
}

TEST(LinkFaults, TakeTheSameFramesForTheSameSeedOnly) {
  std::vector<uint16_t> first;
  std::vector<uint16_t> again;
  std::vector<uint16_t> other;
  wire_after(7, &first);
  wire_after(7, &again);
  wire_after(8, &other);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
}

TEST(LinkFaults, APortThatDoesNotListenSendsOnUntilItDoes) {
  QosPlan plan = QosPlan::plain(kBenchPorts, {1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20});
  plan.ports[4].pfc_enabled = 1 << 3;
  ForwardingState state = bench_state();
  state.plan = std::make_shared<QosPlan>(std::move(plan));
  Core bench{std::move(state)};
  Bytes pause(mac_control::kFrameBytes);
  write_pfc(pause.data(), {2, 0, 0, 0, 0, 4}, PfcFrame::of(1 << 3, 0xffff));
  bench.node().egress().make_deaf(PortNo{4}, 1 << 3, bench.engine().now());
  bench.send(4, pause);
  bench.run_for(Duration::us(5));
  bench.send(6, data_frame(3, 1, 100));
  bench.run_for(Duration::us(5));
  EXPECT_EQ(bench.arrivals(4).size(), 1u);
  bench.node().egress().make_deaf(PortNo{4}, 0, bench.engine().now());
  bench.send(6, data_frame(3, 2, 100));
  bench.run_for(Duration::us(5));
  EXPECT_EQ(bench.arrivals(4).size(), 1u) << "the pause is still in force";
  const PortFlowControl& flow = bench.node().egress().flow_control(PortNo{4});
  EXPECT_EQ(flow.pfc_rx_frames(Priority{3}), 1u) << "what it was deaf to counts as received";
  EXPECT_EQ(flow.pauses().paused_time(Priority{3}, bench.engine().now()), Duration::us(5))
      << "and as paused only since it listens";
}

// When the bench runs next, before all else.
void enable_tx(Core& bench, bool enabled) {
  bench.engine().at(bench.engine().now(), [&bench, enabled](Instant now) {
    bench.node().egress().enable_tx(PortNo{4}, enabled, now);
    bench.engine().wake(bench.node().id(), now);
  });
}

TEST(TxDisabled, HoldsAllQueuesOfThePortAndSendsWhatWaitedOnceItIsEnabled) {
  Core bench;
  enable_tx(bench, false);
  for (uint16_t i = 0; i < 8; ++i) bench.send(6, data_frame(static_cast<uint8_t>(i), i, 100));
  bench.run_for(Duration::us(5));
  EXPECT_EQ(bench.arrivals(4).size(), 0u);
  EXPECT_FALSE(bench.node().egress().departures().is_sending(PortNo{4}));
  enable_tx(bench, true);
  bench.run_for(Duration::us(5));
  EXPECT_EQ(bench.arrivals(4).size(), 8u);
}

TEST(TxDisabled, LetsTheFrameOnTheWireLeave) {
  Core bench;
  bench.send(6, data_frame(3, 1, 100));
  bench.send(6, data_frame(3, 2, 100));
  while (!bench.node().egress().departures().is_sending(PortNo{4})) bench.run_for(Duration::ns(1));
  enable_tx(bench, false);
  bench.run_for(Duration::us(5));
  EXPECT_EQ(bench.arrivals(4).size(), 1u);
  enable_tx(bench, true);
}

TEST(TxDisabled, LeavesAPauseInForceThatComesMeanwhile) {
  QosPlan plan = QosPlan::plain(kBenchPorts, {1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20});
  plan.ports[4].pfc_enabled = 1 << 3;
  ForwardingState state = bench_state();
  state.plan = std::make_shared<QosPlan>(std::move(plan));
  Core bench{std::move(state)};
  enable_tx(bench, false);
  Bytes pause(mac_control::kFrameBytes);
  write_pfc(pause.data(), {2, 0, 0, 0, 0, 4}, PfcFrame::of(1 << 3, 0xffff));
  bench.send(4, pause);
  bench.run_for(Duration::us(5));
  enable_tx(bench, true);
  bench.send(6, data_frame(3, 1, 100));
  bench.run_for(Duration::us(5));
  EXPECT_EQ(bench.arrivals(4).size(), 0u) << "the pause that came meanwhile is in force";
}

}  // namespace
}  // namespace softspine::tests
