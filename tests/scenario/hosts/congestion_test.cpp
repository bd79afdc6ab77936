// SPDX-License-Identifier: Apache-2.0
// Congestion controls end to end: hosts over a bottleneck that the test brings along, with DCQCN's congestion point.
#include <algorithm>

#include "dataplane/congestion/algorithms.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/hosts/two_hosts.hpp"

namespace softspine::testbeds {
namespace {

constexpr uint32_t kSenders = 2;
constexpr Rate kRate = Rate::gbps(40);

// Senders at ports 0 … n − 1, the receiver at port n. Towards it a FIFO marks what finds a queue of q bytes before it
// with probability 0 up to Kmin, Pmax (q − Kmin)/(Kmax − Kmin) up to Kmax, 1 above: 5 KB, 200 KB, 1 %.
class Bottleneck final : public Node {
 public:
  explicit Bottleneck(uint64_t seed) : Node("bottleneck", kSenders + 1), free_at_(kSenders + 1), rng_(seed, 0) {}

  Instant run(Instant until) noexcept override {
    while (inbox().next() < until) {
      Packet packet = inbox().take_first();
      const uint8_t destination = packet.data()[14 + ipv4::kDestination + 3];
      const uint16_t out = static_cast<uint16_t>(destination - 1);
      store_mac(packet.data(), {2, 0, 0, 0, 0, destination});
      const Instant now = packet.meta().at;
      const Instant start = std::max(now, free_at_[out]);
      if (out == kSenders) judge(packet, start - now);
      free_at_[out] = transmitter(PortNo{out}).send(std::move(packet), start);
    }
    return inbox().next();
  }
  // In bytes, at the arrival of a frame; since the last forget_queue().
  double most_queued() const { return most_queued_; }
  double least_queued() const { return least_queued_; }
  void forget_queue() {
    most_queued_ = 0;
    least_queued_ = 1e12;
  }
  uint64_t marked() const { return marked_; }

 private:
  void judge(Packet& packet, Duration wait) {
    const double queued = wait.seconds() * static_cast<double>(kRate.count_bps()) / 8;
    most_queued_ = std::max(most_queued_, queued);
    least_queued_ = std::min(least_queued_, queued);
    const double share = queued > 200e3 ? 1 : std::max(0.0, (queued - 5e3) / 195e3 * 0.01);
    uint8_t* l3 = packet.data() + 14;
    if ((l3[ipv4::kTos] & ip::kEcnMask) == ip::kNotEct || rng_.below(1'000'000) >= static_cast<uint64_t>(share * 1e6)) {
      return;
    }
    replace_tos(l3, l3[ipv4::kTos] | ip::kCe);
    ++marked_;
  }
  std::vector<Instant> free_at_;
  Rng rng_;
  double most_queued_ = 0;
  double least_queued_ = 1e12;
  uint64_t marked_ = 0;
};

struct Outcome {
  std::vector<double> gbps;  // in the last part
  double most_queued;        // of all
  double late_least;         // in the last part
  double late_most;
  uint64_t marked;
  uint64_t cnps;
};

// Two writers, the second 2 ms behind the first; their rates over [from, end).
Outcome run_two(uint64_t seed, const CongestionParameters& control, Duration from, Duration end) {
  PacketPool pool{"bottleneck", 65535, kHostPacketBytes};
  VirtualClock clock;
  Engine engine{clock, {.workers = 1, .seed = 1}};
  std::vector<RoceHost*> hosts;
  for (uint8_t n = 1; n <= kSenders + 1; ++n) {
    HostConfig config = host_config(n);
    config.gateway = {2, 0, 0, 0, 0, 99};
    const NodeId id = engine.add(std::make_unique<RoceHost>(config, pool), 0);
    hosts.push_back(&static_cast<RoceHost&>(engine.node(id)));
  }
  const NodeId middle = engine.add(std::make_unique<Bottleneck>(seed), 0);
  auto& bottleneck = static_cast<Bottleneck&>(engine.node(middle));
  for (uint16_t n = 0; n <= kSenders; ++n) {
    engine.connect({hosts[n]->id(), PortNo{0}}, {middle, PortNo{n}}, kRate, Duration::us(1));
  }
  for (uint32_t n = 0; n < kSenders; ++n) {
    FlowConfig flow = flow_config(n);
    flow.destination = host_config(kSenders + 1).ipv4;
    flow.transport = TransportKind::kReliable;
    flow.mtu = 4096;
    flow.messages = 0;
    flow.start = Instant::at(Duration::ms(2 * n));
    flow.reliable = {.window = 1024, .congestion_control = control};
    hosts[n]->add_flow(flow);
    SinkConfig sink{.id = n, .qp = flow.destination_qp};
    sink.transport = TransportKind::kReliable;
    sink.source = host_config(static_cast<uint8_t>(n + 1)).ipv4;
    sink.source_qp = flow.source_qp;
    sink.echoes_ce = uses_echo(control);
    if (uses_cnps(control) || !controls_congestion(control)) sink.cnp_interval = Duration::us(50);
    hosts[kSenders]->add_sink(sink);
  }
  engine.run(Instant::at(from));
  const double most_before = bottleneck.most_queued();
  bottleneck.forget_queue();
  std::vector<uint64_t> before;
  for (uint32_t n = 0; n < kSenders; ++n) before.push_back(hosts[kSenders]->received(n).bytes);
  engine.run(Instant::at(end));
  Outcome out{.gbps = {},
              .most_queued = std::max(most_before, bottleneck.most_queued()),
              .late_least = bottleneck.least_queued(),
              .late_most = bottleneck.most_queued(),
              .marked = bottleneck.marked(),
              .cnps = 0};
  for (uint32_t n = 0; n < kSenders; ++n) {
    const FlowReceived& received = hosts[kSenders]->received(n);
    out.gbps.push_back(static_cast<double>(received.bytes - before[n]) * 8e-9 / (end - from).seconds());
    out.cnps += received.reliable.np_cnp_sent;
    const FlowSent& sent = hosts[n]->sent(0);
    EXPECT_LE(received.reliable.np_cnp_sent - sent.reliable.rp_cnp_handled - sent.reliable.rp_cnp_ignored, 1u)
        << "one may be on its way";
    EXPECT_EQ(uses_cnps(control) ? sent.reliable.rp_cnp_ignored : sent.reliable.rp_cnp_handled, 0u);
    EXPECT_EQ(hosts[n]->sent(0).reliable.retransmitted_packets, 0u);
    // At most one in 50 us.
    EXPECT_LE(received.reliable.np_cnp_sent, static_cast<uint64_t>(end / Duration::us(50)) + 1);
  }
  engine.drain();
  for (Node* node : {static_cast<Node*>(hosts[0]), static_cast<Node*>(hosts[1]), static_cast<Node*>(hosts[2])}) {
    node->inbox().flush(PortNo{0}, [](Packet packet) { PacketPool::release(std::move(packet)); });
  }
  return out;
}

// A flow has some two cuts a millisecond, and each moves its rate by a percent for long: over 60 ms the two differ by
// 5 % (one standard deviation), over 400 ms by 2.
TEST(Dcqcn, TwoFlowsOverOneBottleneckComeWithinFivePercent) {
  for (uint64_t round = 0; round < 5; ++round) {
    const uint64_t seed = tests::seed() * 100 + round;
    SCOPED_TRACE(seed);
    const Outcome out = run_two(seed, ReactionParameters::paper(), Duration::ms(60), Duration::ms(460));
    const double sum = out.gbps[0] + out.gbps[1];
    EXPECT_NEAR(out.gbps[0], out.gbps[1], 0.05 * sum / 2) << out.gbps[0] << " and " << out.gbps[1];
    EXPECT_GT(sum, 0.97 * 40 * 4096 / 4178) << "the link is used";
    EXPECT_GT(out.marked, 0u);
    EXPECT_GT(out.cnps, 100u);
  }
}

TEST(Dcqcn, KeepsTheQueueFarBelowWhatTheWindowsAloneMakeOfIt) {
  const Outcome with = run_two(1, ReactionParameters::paper(), Duration::ms(20), Duration::ms(25));
  const Outcome without = run_two(1, {}, Duration::ms(20), Duration::ms(25));
  EXPECT_GT(without.most_queued, 4e6) << "a window of 4 MiB, twice, less what is on its way";
  EXPECT_LT(with.most_queued, 0.25 * without.most_queued) << with.most_queued;
}

// At the fixed point the RTT is T_low (1 + δ N / (β C)): 20 and 50 us become 25 and 62.5. What of it is no queue: four
// cables of 1 us, the packet once more, the acknowledgement twice.
TEST(Timely, PatchedFlowsHaveFairSharesAndTheQueueOfTheirFixedPoint) {
  for (const int64_t low : {20, 50}) {
    TimelyParameters parameters = Timely::kSets[1].parameters;
    parameters.t_low = Duration::us(low);
    parameters.delta = Rate::mbps(40);
    const Outcome out = run_two(1, parameters, Duration::ms(100), Duration::ms(150));
    const double sum = out.gbps[0] + out.gbps[1];
    EXPECT_NEAR(out.gbps[0], out.gbps[1], 0.01 * sum / 2) << out.gbps[0] << " and " << out.gbps[1];
    EXPECT_GT(sum, 0.999 * 40 * 4096 / 4178) << "the link is used";
    const double rtt = 1.25 * static_cast<double>(low) * 1e-6;
    const double path = 4e-6 + (4178 + 2 * 86) * 8 / 40e9;
    EXPECT_NEAR(out.late_least, (rtt - path) * 40e9 / 8, 4178) << "within a packet";
    EXPECT_NEAR(out.late_most, (rtt - path) * 40e9 / 8, 4178);
    EXPECT_EQ(out.cnps, 0u);
  }
}

// Windows of whole packets, that grow by one in a round trip: the RTT is never farther from the target than the two
// packets that the flows add to it, and the cut that follows. What of it is no queue is as with TIMELY. Shares are even
// where more than whole packets of 4 KiB tell flows apart: the testbed swift-incast.
TEST(Swift, FlowsHoldTheRoundTripTimeAtItsTarget) {
  const SwiftParameters parameters{
      .base_target = Duration::us(30), .hop_scale = Duration{}, .fs_range = Duration{}, .initial_cwnd = 12};
  const Outcome out = run_two(1, parameters, Duration::ms(20), Duration::ms(60));
  EXPECT_GT(out.gbps[0] + out.gbps[1], 0.999 * 40 * 4096 / 4178) << "the link is used";
  const double path = 4e-6 + (4178 + 2 * 86) * 8 / 40e9;
  EXPECT_NEAR(out.late_most, (30e-6 - path) * 40e9 / 8, 3 * 4178);
  EXPECT_NEAR(out.late_least, (30e-6 - path) * 40e9 / 8, 4 * 4178);
}

// The bottleneck marks by chance from 5 KB on, at most one packet in a hundred: a long queue for DCTCP, which is made
// for marks of all packets above a threshold (the testbed dctcp-convergence).
TEST(Dctcp, FlowsShareTheLinkByTheEchoesOfMarks) {
  const DctcpParameters parameters{.rtt = Duration::us(10), .ai_rate = Rate::mbps(3277)};
  const Outcome out = run_two(1, parameters, Duration::ms(20), Duration::ms(100));
  const double sum = out.gbps[0] + out.gbps[1];
  EXPECT_NEAR(out.gbps[0], out.gbps[1], 0.1 * sum / 2) << out.gbps[0] << " and " << out.gbps[1];
  EXPECT_GT(sum, 0.97 * 40 * 4096 / 4178) << "the link is used";
  EXPECT_GT(out.marked, 100u);
  EXPECT_EQ(out.cnps, 0u);
}

// The paper's own rule holds the queue at T_low and fills the link; the shares depend on how the flows began.
TEST(Timely, KeepsTheQueueBelowItsLowThreshold) {
  TimelyParameters parameters;
  parameters.t_low = Duration::us(20);
  parameters.t_high = Duration::us(60);
  parameters.delta = Rate::mbps(40);
  const Outcome out = run_two(1, parameters, Duration::ms(50), Duration::ms(100));
  EXPECT_GT(out.gbps[0] + out.gbps[1], 0.99 * 40 * 4096 / 4178) << "the link is used";
  EXPECT_LT(out.late_most, 20e-6 * 40e9 / 8) << "T_low of the link's rate";
  EXPECT_GT(out.most_queued, 2 * out.late_most) << "both began at the link's rate";
}

}  // namespace
}  // namespace softspine::testbeds
