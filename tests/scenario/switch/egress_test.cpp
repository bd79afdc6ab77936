// SPDX-License-Identifier: Apache-2.0
// Queues: their limit, their order, and what becomes of them when the link goes.
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

using Core = Bench<pipelines::Core>;

uint16_t id_of(const Frame& frame) {
  return static_cast<uint16_t>(frame.bytes[18] << 8 | frame.bytes[19]);
}

// Two ports at full rate into one: half has to wait, and what the limit does not hold is dropped.
TEST(Queues, HoldWhatTheirLimitSaysAndNoByteMore) {
  ForwardingState state = bench_state();
  state.qos.queue_limit_bytes.fill(10'000);
  Core bench{std::move(state)};
  constexpr uint16_t kFrames = 100;
  const Instant start = bench.engine().now();
  for (uint16_t i = 0; i < kFrames; ++i) {
    bench.send_at(start, 6, data_frame(0, i));
    bench.send_at(start, 7, data_frame(0, static_cast<uint16_t>(1000 + i)));
  }
  for (int step = 0; step < 300; ++step) {
    bench.engine().run(bench.engine().now() + Duration::ns(50));
    expect_conserved(bench.node());
    ASSERT_LE(bench.counters(4).queues[1].current_bytes, 10'000u);
  }
  const Frames out = bench.run();
  const auto& queue = bench.counters(4).queues[1];
  // One leaves for two that come: after the first ten are held, every second is refused.
  EXPECT_EQ(queue.watermark_bytes, 10'000u);
  EXPECT_EQ(out.size() + queue.dropped_packets, 2u * kFrames);
  EXPECT_NEAR(static_cast<double>(out.size()), kFrames + 10, 1);
  EXPECT_EQ(queue.dropped_bytes, queue.dropped_packets * 1000);
  EXPECT_EQ(queue.packets, out.size());
  EXPECT_EQ(bench.drops(), (Drops{{"queue_full", queue.dropped_packets}}));
  EXPECT_EQ(bench.counters(6).drops[static_cast<size_t>(DropReason::kQueueFull)] +
                bench.counters(7).drops[static_cast<size_t>(DropReason::kQueueFull)],
            queue.dropped_packets)
      << "at the ports they came in by";
}

// Without a plan of buffers too: what is published next has limits of its own.
TEST(Queues, HaveTheLimitsThatWerePublishedLast) {
  Core bench;
  EXPECT_EQ(bench.exchange(6, data_frame(0, 1)).size(), 1u);
  ForwardingState state = bench_state();
  state.qos.queue_limit_bytes[1] = 0;
  bench.publish(std::move(state), bench.engine().now());
  EXPECT_EQ(bench.exchange(6, data_frame(0, 2)), Frames{});
  EXPECT_EQ(bench.drops(), (Drops{{"queue_full", 1}}));
}

TEST(Queues, ALimitOfZeroPassesNothing) {
  ForwardingState state = bench_state();
  state.qos.queue_limit_bytes[1] = 0;
  Core bench{std::move(state)};
  EXPECT_EQ(bench.exchange(6, data_frame(0, 1)), Frames{});
  EXPECT_EQ(bench.drops(), (Drops{{"queue_full", 1}}));
  EXPECT_EQ(bench.exchange(6, data_frame(46, 1)).size(), 1u) << "another queue's";
}

// SONiC's AZURE maps, and for what is no IP the priority of its tag.
TEST(Queues, AreChosenByDscpAndByThePriorityOfATag) {
  Bench<pipelines::Tor> bench;
  for (uint8_t dscp = 0; dscp < 64; ++dscp) {
    const uint8_t expected = dscp == 3 || dscp == 4 ? dscp
                             : dscp == 5            ? 2
                             : dscp == 46           ? 5
                             : dscp == 48           ? 6
                             : dscp == 8            ? 0
                                                    : 1;
    const uint64_t before = bench.counters(4).queues[expected].packets;
    bench.exchange(6, data_frame(dscp, dscp, 46));
    EXPECT_EQ(bench.counters(4).queues[expected].packets, before + 1) << int{dscp};
    dataplane::Burst burst;
    dataplane::Packet packet = packet_pool().make(60);
    const Bytes bytes = data_frame(dscp, dscp, 46);
    std::copy_n(bytes.begin(), 60, packet.data());
    packet.meta().frame_bytes = static_cast<uint32_t>(bytes.size());
    dataplane::parse(packet);
    burst.push(std::move(packet));
    dataplane::classify(bench.node().tables(), burst);
    EXPECT_EQ(burst[0].meta().traffic_class, expected);
    EXPECT_EQ(burst[0].meta().priority_group, expected == 3 || expected == 4 ? expected : 0);
    dataplane::PacketPool::release(std::move(burst[0]));
  }
  for (uint16_t priority = 0; priority < 8; ++priority) {
    bench.exchange(2, tagged_frame(kAll, station(3), static_cast<uint16_t>(priority << 13 | 20), 0x88b5, counting(46)));
    EXPECT_EQ(bench.counters(3).queues[priority].packets, 1u) << priority;
  }
}

// PORT_QOS_MAP: class and priority group are the port in's, the queue is the port out's.
TEST(Queues, FollowTheMapsOfThePortInAndOfThePortOut) {
  ForwardingState state = bench_state();
  state.port_qos.assign(state.ports.size(), state.qos);
  state.port_qos[6].dscp_to_tc[10] = 2;
  state.port_qos[6].tc_to_queue[2] = 7;  // nobody leaves by it
  state.port_qos[4].tc_to_queue[2] = 5;
  Core bench{std::move(state)};
  bench.exchange(6, data_frame(10, 1, 46));
  EXPECT_EQ(bench.counters(4).queues[5].packets, 1u);
  EXPECT_EQ(bench.counters(4).queues[7].packets, 0u);
  bench.exchange(7, data_frame(10, 2, 46));
  EXPECT_EQ(bench.counters(4).queues[1].packets, 1u) << "class 1 at the other port";
}

TEST(Queues, TheHighestGoesFirstAndEachInItsOrder) {
  Core bench;
  const Instant start = bench.engine().now();
  // A long frame keeps port 4 busy while the rest comes in by two ports.
  bench.send_at(start, 6, data_frame(0, 1, 1986));
  const uint8_t dscps[] = {8, 0, 3, 46, 48, 8, 0, 3, 46, 48};
  for (uint16_t i = 0; i < 10; ++i)
    bench.send_at(start + Duration::ns(162), 7, data_frame(dscps[i], static_cast<uint16_t>(10 + i), 46));
  std::vector<uint16_t> ids;
  for (const Frame& frame : bench.run()) ids.push_back(id_of(frame));
  EXPECT_EQ(ids, (std::vector<uint16_t>{1, 14, 19, 13, 18, 12, 17, 11, 16, 10, 15}));
}

TEST(Queues, AFrameUnderWayIsNotInterrupted) {
  Core bench;
  const Instant start = bench.engine().now();
  bench.send_at(start, 6, data_frame(8, 1, 1986));
  bench.send_at(start + Duration::ns(170), 7, data_frame(48, 2, 46));
  bench.run();
  const auto& arrivals = bench.probe(4).arrivals();
  ASSERT_EQ(arrivals.size(), 2u);
  EXPECT_EQ(arrivals[1].at - arrivals[0].at, kBenchRate.time_of_frame(80)) << "right behind";
}

TEST(Queues, ADownLinkTakesNothingAndWhatWaitedIsCounted) {
  Core bench;
  const Instant start = bench.engine().now();
  for (uint16_t i = 0; i < 20; ++i) {
    bench.send_at(start, 6, data_frame(0, i));
    bench.send_at(start, 7, data_frame(48, i));
  }
  bench.engine().run(start + Duration::us(2));
  const uint64_t waiting = bench.counters(4).queued_packets();
  ASSERT_GT(waiting, 5u);
  bench.set_link(4, false);
  expect_conserved(bench.node());
  EXPECT_EQ(bench.drops(), (Drops{{"link_down", waiting - 1}})) << "all but the one on the wire";
  const Frames out = bench.run();
  EXPECT_GT(bench.drops().at("link_down"), 0u);
  EXPECT_EQ(out.size(), bench.probe(4).arrivals().size());
  EXPECT_GT(bench.engine().lost_on_links(), 0u);
  bench.set_link(4, true);
  EXPECT_EQ(bench.exchange(6, data_frame(0, 99)).size(), 1u);
  EXPECT_EQ(bench.drops(), Drops{});
}

TEST(Queues, WhatAStationSendsIntoADownLinkIsLostAndCounted) {
  Core bench;
  bench.set_link(6, false);
  EXPECT_EQ(bench.exchange(6, data_frame(0, 1)), Frames{});
  EXPECT_EQ(bench.probe(6).transmitter(PortNo{0}).counters().lost_packets, 1u);
  EXPECT_EQ(bench.counters(6).rx_packets, 0u);
  bench.set_link(6, true);
  EXPECT_EQ(bench.exchange(6, data_frame(0, 2)).size(), 1u);
}

TEST(Queues, DrainGivesBackWhatIsHeld) {
  const uint64_t before = packet_pool().in_use();
  Core bench;
  for (uint16_t i = 0; i < 20; ++i) {
    bench.send(6, data_frame(0, i));
    bench.send(7, data_frame(0, i));
  }
  bench.engine().run(bench.engine().now() + Duration::us(1));
  EXPECT_GT(packet_pool().in_use(), before);
  bench.run();
  EXPECT_EQ(packet_pool().in_use(), before);
}

}  // namespace
}  // namespace softspine::tests
