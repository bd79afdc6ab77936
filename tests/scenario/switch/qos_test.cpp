// SPDX-License-Identifier: Apache-2.0
// Marks, early drops, weights and shapers, as they come out of a switch.
#include <cmath>

#include "dataplane/packet/checksum.hpp"
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

using Core = Bench<pipelines::Core>;

QosPlan open_plan() {
  std::array<uint32_t, 8> limits{};
  limits.fill(BufferPlan::kUnlimitedCells);
  QosPlan plan = QosPlan::plain(kBenchPorts, limits);
  plan.ports[4].pfc_enabled = 0xff;
  plan.ports[4].link.pfc_response = pause_quantum(kBenchRate);
  return plan;
}
ForwardingState state_with(QosPlan plan) {
  ForwardingState state = bench_state();
  state.plan = std::make_shared<QosPlan>(std::move(plan));
  return state;
}
// To the station at port 4, 1000 bytes.
Bytes marked_frame(uint8_t dscp, uint8_t ecn, uint16_t id = 0) {
  const Bytes packet = ipv4_packet(
      {.from = ip4("10.0.30.2"), .to = ip4("10.1.0.1"), .tos = static_cast<uint8_t>(dscp << 2 | ecn), .id = id},
      counting(966));
  return ethernet_frame(kRouter, station(6), 0x0800, packet);
}
Bytes frame6_of(uint8_t traffic_class) {
  const Bytes packet =
      ipv6_packet({.from = ip6(0x30, 2), .to = ip6(0x101, 1), .traffic_class = traffic_class}, counting(946));
  return ethernet_frame(kRouter, station(6), 0x86dd, packet);
}
void pause(Core& bench, uint16_t quanta) {
  Bytes frame(mac_control::kFrameBytes);
  write_pfc(frame.data(), {2, 0, 0, 0, 0, 4}, PfcFrame::of(0xff, quanta));
  bench.send(4, frame);
  bench.run_for(Duration::us(2));
}
// Fills the queue while the neighbour pauses it, then lets it go: each frame leaves at a length of its own.
Frames drain_of(Core& bench, const std::vector<Bytes>& frames) {
  pause(bench, 0xffff);
  for (const Bytes& frame : frames) bench.send(6, frame);
  bench.run_for(Duration::us(20));
  EXPECT_EQ(bench.counters(4).queued_packets(), frames.size());
  pause(bench, 0);
  return bench.run();
}

constexpr uint32_t kMarkedFrames = 60;
constexpr WredLine kLine{.min_bytes = 10'000, .max_bytes = 50'000, .max_probability = WredLine::kCertain / 5};

// 400 times through every length: none up to min, all from max on, and between them within 4.5 standard
// deviations of the line (one false alarm in 3,600 runs over 40 lengths).
TEST(Ecn, MarksTheShareThatTheLineSays) {
  QosPlan plan = open_plan();
  plan.wred.push_back({.mark = kLine, .drop = {}});
  plan.ports[4].queues[3].wred = 1;
  Core bench{state_with(std::move(plan))};
  constexpr int kRounds = 400;
  std::array<int, kMarkedFrames> marked{};
  uint64_t total = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Frames out = drain_of(bench, std::vector<Bytes>(kMarkedFrames, marked_frame(3, 2)));
    ASSERT_EQ(out.size(), kMarkedFrames);
    for (uint32_t i = 0; i < kMarkedFrames; ++i) {
      const uint8_t ecn = out[i].bytes[15] & 3;
      ASSERT_TRUE(ecn == 2 || ecn == 3);
      marked[i] += ecn == 3;
      total += ecn == 3;
      ASSERT_EQ(ipv4_checksum(out[i].bytes.data() + 14, 20), 0);
    }
  }
  EXPECT_EQ(bench.counters(4).queues[3].ecn_marked_packets, total);
  for (uint32_t i = 0; i < kMarkedFrames; ++i) {
    const double queue = 1000.0 * (kMarkedFrames - i);
    const double p = queue <= 10'000 ? 0 : queue >= 50'000 ? 1 : 0.2 * (queue - 10'000) / 40'000;
    EXPECT_NEAR(marked[i], p * kRounds, 4.5 * std::sqrt(kRounds * p * (1 - p))) << "queue of " << queue;
  }
}

TEST(Ecn, LeavesAloneWhatIsNotCapableOrMarkedAlready) {
  QosPlan plan = open_plan();
  plan.wred.push_back({.mark = {.min_bytes = 0, .max_bytes = 1, .max_probability = 0}, .drop = {}});
  plan.ports[4].queues[3].wred = 1;
  Core bench{state_with(std::move(plan))};
  const Frames out = drain_of(bench, {marked_frame(3, 0), marked_frame(3, 1), marked_frame(3, 2), marked_frame(3, 3),
                                      frame6_of(3 << 2 | 1), frame6_of(3 << 2)});
  ASSERT_EQ(out.size(), 6u);
  const auto class6 = [&](size_t i) { return (out[i].bytes[14] & 15) << 4 | out[i].bytes[15] >> 4; };
  EXPECT_EQ(out[0].bytes[15], 3 << 2);
  EXPECT_EQ(out[1].bytes[15], 3 << 2 | 3);
  EXPECT_EQ(out[2].bytes[15], 3 << 2 | 3);
  EXPECT_EQ(out[3].bytes[15], 3 << 2 | 3);
  EXPECT_EQ(class6(4), 3 << 2 | 3);
  EXPECT_EQ(class6(5), 3 << 2);
  EXPECT_EQ(bench.counters(4).queues[3].ecn_marked_packets, 3u) << "those that the switch marked itself";
}

// The drop line is a line of its own: who can be marked passes, who cannot is dropped beyond it, when it comes.
TEST(Wred, DropsWhoCannotBeMarkedBeyondAThresholdOfItsOwn) {
  QosPlan plan = open_plan();
  constexpr WredLine kNeverReached{.min_bytes = 1'000'000, .max_bytes = 2'000'000, .max_probability = 0};
  plan.wred.push_back(
      {.mark = kNeverReached, .drop = {.min_bytes = 20'000, .max_bytes = 20'001, .max_probability = 0}});
  plan.ports[4].queues[3].wred = 1;
  Core bench{state_with(std::move(plan))};
  pause(bench, 0xffff);
  for (uint16_t i = 0; i < 40; ++i) bench.send(6, marked_frame(3, 0, i));
  for (uint16_t i = 0; i < 10; ++i) bench.send(6, marked_frame(3, 2, i));
  bench.run_for(Duration::us(20));
  EXPECT_EQ(bench.drops()["wred_dropped"], 20u);
  EXPECT_EQ(bench.counters(4).queues[3].current_packets, 30u) << "20 up to the line, and all that can be marked";
  EXPECT_EQ(bench.counters(4).queues[3].dropped_packets, 20u);
  pause(bench, 0);
}

// ecn_none: nobody is marked, so nobody is spared.
TEST(Wred, DropsEveryPacketBeyondItsThresholdIfItMarksNone) {
  QosPlan plan = open_plan();
  plan.wred.push_back({.mark = {}, .drop = {.min_bytes = 20'000, .max_bytes = 20'001, .max_probability = 0}});
  plan.ports[4].queues[3].wred = 1;
  Core bench{state_with(std::move(plan))};
  pause(bench, 0xffff);
  for (uint8_t ecn = 0; ecn < 4; ++ecn) {
    for (uint16_t i = 0; i < 10; ++i) bench.send(6, marked_frame(3, ecn, i));
  }
  bench.run_for(Duration::us(20));
  EXPECT_EQ(bench.drops()["wred_dropped"], 20u);
  EXPECT_EQ(bench.counters(4).queues[3].current_packets, 20u);
  pause(bench, 0);
}

TEST(Scheduler, SharesBytesByWeightAndServesStrictQueuesFirst) {
  QosPlan plan = open_plan();
  const std::array<uint8_t, 8> weights{10, 25, 0, 65, 0, 0, 0, 0};
  for (const int q : {0, 1, 3}) plan.ports[4].queues[q] = {.strict = false, .weight = weights[q]};
  Core bench{state_with(std::move(plan))};
  pause(bench, 0xffff);
  const Instant start = bench.engine().now();
  // Queue 0 small frames, 1 and 3 larger ones, 6 strict.
  const auto sized = [](uint8_t dscp, size_t payload) {
    return ethernet_frame(
        kRouter, station(6), 0x0800,
        ipv4_packet({.from = ip4("10.0.30.2"), .to = ip4("10.1.0.1"), .tos = static_cast<uint8_t>(dscp << 2)},
                    counting(payload)));
  };
  for (int i = 0; i < 1500; ++i) bench.send_at(start, 6, sized(8, 86));
  for (int i = 0; i < 500; ++i) bench.send_at(start, 7, sized(0, 1366));
  for (int i = 0; i < 1500; ++i) bench.send_at(start, 5, sized(3, 966));
  bench.run_for(Duration::us(150));
  for (int i = 0; i < 20; ++i) bench.send(6, sized(48, 966));
  bench.run_for(Duration::us(5));
  pause(bench, 0);
  bench.run_for(Duration::us(40));
  const auto& queues = bench.counters(4).queues;
  EXPECT_EQ(queues[6].packets, 20u);
  const double all = static_cast<double>(queues[0].bytes + queues[1].bytes + queues[3].bytes);
  ASSERT_GT(queues[0].current_packets * queues[1].current_packets * queues[3].current_packets, 0u) << "all still wait";
  for (const int q : {0, 1, 3}) {
    // A turn's credit and one frame, of a round that is 100 × 256 bytes.
    EXPECT_NEAR(static_cast<double>(queues[q].bytes) / all, weights[q] / 100.0, (weights[q] * 256 + 1400) / all) << q;
  }
}

// Queue 6 goes before queue 3 until a plan lets both take turns.
TEST(Scheduler, ANewPlanTakesAQueuesPriorityAway) {
  Core bench{state_with(open_plan())};
  QosPlan turns = open_plan();
  for (const int q : {3, 6}) turns.ports[4].queues[q] = {.strict = false, .weight = 4};
  pause(bench, 0xffff);
  bench.publish(state_with(std::move(turns)), bench.engine().now());
  for (uint16_t i = 0; i < 20; ++i) bench.send(6, marked_frame(48, 0, i));
  for (uint16_t i = 0; i < 20; ++i) bench.send(7, marked_frame(3, 0, i));
  bench.run_for(Duration::us(20));
  pause(bench, 0);
  const Frames out = bench.run();
  ASSERT_EQ(out.size(), 40u);
  std::array<int, 2> first_half{};
  for (size_t i = 0; i < 20; ++i) ++first_half[out[i].bytes[15] >> 2 == 48 ? 1 : 0];
  EXPECT_NEAR(first_half[0], 10, 1) << "a turn is one frame of 1000 bytes";
}

TEST(Scheduler, GivesWhatAnEmptyQueueLeavesToTheOthers) {
  QosPlan plan = open_plan();
  plan.ports[4].queues[0] = {.strict = false, .weight = 1};
  plan.ports[4].queues[1] = {.strict = false, .weight = 100};
  Core bench{state_with(std::move(plan))};
  const Instant start = bench.engine().now();
  for (uint16_t i = 0; i < 100; ++i) bench.send_at(start, 6, marked_frame(8, 0, i));
  const Frames out = bench.run();
  EXPECT_EQ(out.size(), 100u);
  EXPECT_EQ(bench.arrivals(4).back().at - bench.arrivals(4).front().at, kBenchRate.time_of_frame(1000) * 99);
}

TEST(Shaper, HoldsAQueueToItsRateAfterItsBurst) {
  QosPlan plan = open_plan();
  plan.ports[4].queues[3].shaper = {Rate::gbps(10), 5000};
  Core bench{state_with(std::move(plan))};
  const Instant start = bench.engine().now();
  for (uint16_t i = 0; i < 200; ++i) {
    bench.send_at(start, 6, marked_frame(3, 0, i));
    bench.send_at(start, 7, marked_frame(8, 0, i));
  }
  bench.run();
  std::vector<Instant> shaped;
  Instant last_free;
  for (const auto& arrival : bench.arrivals(4)) {
    if (arrival.bytes[15] >> 2 == 3)
      shaped.push_back(arrival.at);
    else
      last_free = arrival.at;
  }
  ASSERT_EQ(shaped.size(), 200u);
  const double seconds = (shaped.back() - shaped.front()).seconds();
  // 199 frames after the first, six of them out of the burst, the rest at 10 Gb/s.
  EXPECT_NEAR(8 * 194'000 / seconds, 10e9, 10e9 * 0.005);
  EXPECT_LT(last_free, start + kBenchRate.time_of_frame(1000) * 235 + kBenchPropagation * 2)
      << "the other queue is not held";
}

TEST(Shaper, HoldsAPortToItsRate) {
  QosPlan plan = open_plan();
  plan.ports[4].shaper = {Rate::gbps(20), 1};
  Core bench{state_with(std::move(plan))};
  const Instant start = bench.engine().now();
  for (uint16_t i = 0; i < 200; ++i) {
    bench.send_at(start, 6, marked_frame(3, 0, i));
    bench.send_at(start, 7, marked_frame(8, 0, i));
  }
  EXPECT_EQ(bench.run().size(), 400u);
  const double seconds = (bench.arrivals(4).back().at - bench.arrivals(4).front().at).seconds();
  EXPECT_NEAR(8 * 399'000 / seconds, 20e9, 20e9 * 0.001);
}

// New thresholds while frames wait: nothing is lost, the sums stay right (Bench checks them at its end).
TEST(Plan, ChangesUnderTrafficAndLosesNothing) {
  Core bench{state_with(open_plan())};
  const Instant start = bench.engine().now();
  for (uint16_t i = 0; i < 300; ++i) {
    bench.send_at(start, 6, marked_frame(3, 2, i));
    bench.send_at(start, 7, marked_frame(8, 0, i));
  }
  for (uint32_t step = 1; step <= 20; ++step) {
    bench.run_for(Duration::us(1));
    QosPlan plan = open_plan();
    plan.buffer.ingress_pools[0].shared_cells = BufferPlan::kUnlimitedCells / step;
    plan.buffer.ingress_pools.push_back({BufferPlan::kUnlimitedCells, 0});
    for (PortBufferPlan& port : plan.buffer.ports) port.groups[3].pool = step % 2;
    plan.ports[4].queues[3].shaper = {Rate::gbps(step % 3 * 20), 9000};
    plan.ports[4].queues[step % 8] = {.strict = false, .weight = 7};
    bench.publish(state_with(std::move(plan)), bench.engine().now());
    expect_conserved(bench.node());
  }
  bench.publish(state_with(open_plan()), bench.engine().now());
  EXPECT_EQ(bench.run().size(), 600u);
  EXPECT_EQ(bench.drops(), Drops{});
}

}  // namespace
}  // namespace softspine::tests
