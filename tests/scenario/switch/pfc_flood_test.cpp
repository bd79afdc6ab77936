// SPDX-License-Identifier: Apache-2.0
// A port that sends ten million malformed pauses a second: what it says costs nobody else a frame, nor a moment.
#include "tests/harness/seed.hpp"
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

using Core = Bench<pipelines::Core>;

constexpr uint32_t kFlood = 20'000;  // in 2 ms
constexpr Duration kApart = Duration::ns(100);
constexpr uint32_t kFloodFrames = 4'000;  // of 1000 bytes, one every half microsecond
constexpr Duration kFrameEvery = Duration::ns(500);
constexpr uint8_t kLosslessPriorities = 1 << 3 | 1 << 4;

ForwardingState lossless_state() {
  std::array<uint32_t, 8> limits{};
  limits.fill(BufferPlan::kUnlimitedCells);
  QosPlan plan = QosPlan::plain(kBenchPorts, limits);
  for (PortQosPlan& port : plan.ports) port.pfc_enabled = kLosslessPriorities;
  ForwardingState state = bench_state();
  state.plan = std::make_shared<QosPlan>(std::move(plan));
  return state;
}

// MAC control with `body` behind its type.
Bytes control_frame(const Bytes& body) {
  return ethernet_frame({0x01, 0x80, 0xc2, 0, 0, 1}, station(7), 0x8808, body);
}
Bytes malformed(uint32_t index, Rng& rng) {
  Bytes whole = join({be16(0x0101), be16(static_cast<uint16_t>(rng.next() & 0xff))});
  for (int i = 0; i < 8; ++i) whole = join({whole, be16(static_cast<uint16_t>(rng.next()))});
  whole.resize(46, 0);
  switch (index % 6) {
    case 0: whole.resize(rng.below(20)); break;                          // ends within its fields
    case 1: whole[2] = static_cast<uint8_t>(rng.next() | 1); break;      // reserved bits of the vector
    case 2: whole[0] = static_cast<uint8_t>(2 + rng.below(250)); break;  // an opcode that nobody knows
    case 3: std::fill(whole.begin() + 2, whole.end(), uint8_t{0xff}); break;
    case 4: whole = join({be16(0x0001), be16(0xffff)}); break;  // classic PAUSE, without its pad
    default: std::ranges::generate(whole, [&] { return static_cast<uint8_t>(rng.next()); });
  }
  return control_frame(whole);
}

struct Seen {
  std::vector<Instant> at4;  // priority 3
  std::vector<Instant> at5;  // best effort
  uint64_t dropped_elsewhere = 0;
  uint64_t at7 = 0;
  uint64_t taken = 0;
  uint64_t refused = 0;
  uint64_t pauses_sent = 0;
};

std::vector<Instant> arrivals_of(const Core& bench, uint16_t port) {
  std::vector<Instant> out;
  for (const auto& arrival : bench.arrivals(port)) out.push_back(arrival.at);
  return out;
}

Seen run(bool flooded) {
  Core bench{lossless_state()};
  const Instant start = bench.engine().now();
  Rng rng{seed(), 7};
  for (uint32_t i = 0; flooded && i < kFlood; ++i) bench.send_at(start + kApart * i, 7, malformed(i, rng));
  for (uint32_t i = 0; i < kFloodFrames; ++i) {
    const bool lossless = i % 2 == 0;
    const Bytes packet = ipv4_packet({.from = ip4("10.0.30.2"),
                                      .to = ip4(lossless ? "10.1.0.1" : "10.4.0.1"),
                                      .tos = static_cast<uint8_t>(lossless ? 3 << 2 : 0),
                                      .id = static_cast<uint16_t>(i)},
                                     counting(966));
    bench.send_at(start + kFrameEvery * i, 6, ethernet_frame(kRouter, station(6), 0x0800, packet));
  }
  bench.run_for(Duration::ms(3));
  Seen seen{.at4 = arrivals_of(bench, 4), .at5 = arrivals_of(bench, 5)};
  for (uint16_t port = 0; port < kBenchPorts; ++port) {
    const PortCounters& counters = bench.counters(port);
    seen.pauses_sent += counters.pause_tx_frames;
    if (port != 7) seen.dropped_elsewhere += counters.dropped_packets();
  }
  const PortCounters& flooding = bench.counters(7);
  seen.at7 = flooding.rx_packets;
  seen.taken = flooding.drops[static_cast<size_t>(DropReason::kPfcConsumed)];
  seen.refused = flooding.drops[static_cast<size_t>(DropReason::kTruncated)] +
                 flooding.drops[static_cast<size_t>(DropReason::kUnknownMacControl)];
  return seen;
}

TEST(PfcFlood, CostsNobodyElseAFrameNorAMoment) {
  const Seen calm = run(false);
  const Seen flooded = run(true);
  EXPECT_EQ(flooded.at4.size(), kFloodFrames / 2);
  EXPECT_EQ(flooded.at4, calm.at4) << "to the picosecond";
  EXPECT_EQ(flooded.at5, calm.at5);
  EXPECT_EQ(flooded.dropped_elsewhere, 0u);
  EXPECT_EQ(flooded.at7, kFlood);
  EXPECT_EQ(flooded.taken + flooded.refused, kFlood) << "each ends at the port, as one or the other";
  EXPECT_GE(flooded.refused, kFlood / 3);
  EXPECT_EQ(flooded.pauses_sent, 0u) << "nobody is paused for it";
}

}  // namespace
}  // namespace softspine::tests
