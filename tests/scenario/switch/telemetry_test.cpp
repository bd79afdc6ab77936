// SPDX-License-Identifier: Apache-2.0
// What a port writes into packets with in-band telemetry, against what its station sees come.
#include "dataplane/packet/icrc.hpp"
#include "dataplane/packet/telemetry_field.hpp"
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

constexpr size_t kFieldAt = ethernet::kBytes + ipv4::kMinBytes + udp::kBytes + bth::kBytes;

// To the station at port 4, with an empty field and a right ICRC.
Bytes collecting_frame(uint8_t dscp, size_t more) {
  constexpr uint32_t kBitAndQp = uint32_t{telemetry::kBthBit} << 24 | 17;
  Bytes packet = ipv4_packet({.from = ip4("10.0.30.2"), .to = ip4("10.1.0.1"), .tos = static_cast<uint8_t>(dscp << 2)},
                             roce_datagram(50'000, kBitAndQp, Bytes(telemetry::kBytes + more)));
  const auto covered = static_cast<uint32_t>(packet.size() - kIcrcBytes);
  store_icrc(packet.data() + covered, icrc_of(packet.data(), covered, 0, IpVersion::k4));
  return ethernet_frame(kRouter, station(6), 0x0800, packet);
}

void set_pause(Bench<pipelines::Core>& bench, uint16_t quanta) {
  Bytes frame(mac_control::kFrameBytes);
  write_pfc(frame.data(), {2, 0, 0, 0, 0, 4}, PfcFrame::of(0xff, quanta));
  bench.send(4, frame);
  bench.run_for(Duration::us(2));
}

// Packets of two priorities wait while their port is paused, and then leave one behind the other.
std::vector<Probe::Arrival> after_a_pause(bool writes) {
  std::array<uint32_t, 8> limits{};
  limits.fill(BufferPlan::kUnlimitedCells);
  QosPlan plan = QosPlan::plain(kBenchPorts, limits);
  plan.ports[4].pfc_enabled = 0xff;
  plan.ports[4].link.pfc_response = pause_quantum(kBenchRate);
  plan.in_band_telemetry = writes;
  ForwardingState state = bench_state();
  state.plan = std::make_shared<QosPlan>(std::move(plan));
  Bench<pipelines::Core> bench{std::move(state)};
  set_pause(bench, 0xffff);
  for (size_t i = 0; i < 12; ++i) bench.send(6, collecting_frame(i % 3 == 0 ? 46 : 0, 100 * i));
  bench.run_for(Duration::us(20));
  EXPECT_EQ(bench.counters(4).queued_packets(), 12u);
  set_pause(bench, 0);
  bench.run();
  return bench.arrivals(4);
}

TEST(PortTelemetry, HasTheQueueTheBytesTheTimeAndTheRateOfThePort) {
  const std::vector<Probe::Arrival> arrivals = after_a_pause(true);
  ASSERT_EQ(arrivals.size(), 12u);
  uint64_t behind = 0;
  for (const Probe::Arrival& each : arrivals) behind += each.frame_bytes;
  uint64_t before = 0;
  for (const Probe::Arrival& each : arrivals) {
    SCOPED_TRACE(before);
    behind -= each.frame_bytes;
    const Instant began = each.at - kBenchPropagation - kBenchRate.time_of_frame(each.frame_bytes);
    const telemetry::Record record = telemetry::read(each.bytes.data() + kFieldAt);
    EXPECT_EQ(record.count, 1u);
    EXPECT_EQ(record.hops[0].line(), kBenchRate);
    EXPECT_EQ(record.hops[0].time, began.count_ps() / 1000);
    EXPECT_EQ(record.hops[0].bytes, before / 128);
    EXPECT_EQ(record.hops[0].queue, behind / 80) << "of all priorities";
    const auto covered = static_cast<uint32_t>(each.bytes.size() - ethernet::kBytes - kIcrcBytes);
    const uint8_t* const l3 = each.bytes.data() + ethernet::kBytes;
    EXPECT_EQ(load_icrc(l3 + covered), icrc_of(l3, covered, 0, IpVersion::k4));
    before += each.frame_bytes + kWireOverheadBytes;
  }
}

TEST(PortTelemetry, IsNotWrittenByASwitchWithoutIt) {
  for (const Probe::Arrival& each : after_a_pause(false))
    EXPECT_EQ(telemetry::read(each.bytes.data() + kFieldAt).count, 0u);
}

}  // namespace
}  // namespace softspine::tests
