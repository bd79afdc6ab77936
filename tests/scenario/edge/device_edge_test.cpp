// SPDX-License-Identifier: Apache-2.0
// DeviceEdge over a device whose outside is this test, on a clock moved by hand.
// Reference for times: a frame of b bytes lasts (max(b, 60) + 24) × 8 / rate.
#include "dataplane/dpdk/device_edge.hpp"

#include <gtest/gtest.h>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/engine/engine.hpp"
#include "tests/scenario/edge/drops.hpp"
#include "tests/scenario/edge/probe_node.hpp"
#include "tests/scenario/edge/ring_device.hpp"

namespace softspine::dataplane {
namespace {

using tests::count;
using tests::total;

constexpr Rate kRate = Rate::gbps(1);
constexpr Duration kDeviceDelay = Duration::us(1);
constexpr uint32_t kPackets = 4095;

Duration lasts_at_1g(uint64_t bytes) {
  return Duration::ps(static_cast<int64_t>((std::max<uint64_t>(bytes, 60) + 24) * 8'000));
}

class DeviceEdgeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { start_eal({.memory_mib = 256}); }

  void build(DeviceEdge::Config config = {}, uint32_t ring_size = 256) {
    static int serial = 0;
    outside = std::make_unique<RingDevice>("edge" + std::to_string(serial), ring_size);
    pool = std::make_unique<PacketPool>("edge_pool" + std::to_string(serial), kPackets,
                                        kMaxFrameBytes + 64);  // room for one too long
    ++serial;
    auto device = Device::open({.devargs = outside->devargs()}, *pool);
    ASSERT_TRUE(device) << device.error().message;
    engine = std::make_unique<Engine>(clock, Engine::Config{});
    auto owned_edge = std::make_unique<DeviceEdge>("edge", std::move(*device), *pool, config);
    auto owned_probe = std::make_unique<Probe>(*pool);
    edge = owned_edge.get();
    probe = owned_probe.get();
    const PortRef a{engine->add(std::move(owned_edge), 0), PortNo{0}};
    const PortRef b{engine->add(std::move(owned_probe), 0), PortNo{0}};
    engine->connect(a, b, kRate, kDeviceDelay);
  }
  void run_to(Instant now) {
    clock.set(now);
    engine->run(now);
  }
  // Every packet came to an end: nothing is left in the pool's debt.
  void TearDown() override {
    if (!engine) return;
    engine->drain();
    engine.reset();
    outside.reset();
    EXPECT_EQ(pool->in_use(), 0U);
  }

  ManualClock clock;
  std::unique_ptr<RingDevice> outside;
  std::unique_ptr<PacketPool> pool;
  std::unique_ptr<Engine> engine;
  DeviceEdge* edge = nullptr;
  Probe* probe = nullptr;
};

TEST_F(DeviceEdgeTest, SpacesABurstFromOutsideAtTheLinksRate) {
  build();
  for (uint8_t i = 0; i < 10; ++i) outside->bring(*pool, numbered_frame(60 + 100 * i, i));
  const Instant now = Instant::at(Duration::us(7));
  run_to(now);
  run_to(now + Duration::ms(1));
  ASSERT_EQ(probe->arrivals().size(), 10U);
  Instant left = now;
  for (uint8_t i = 0; i < 10; ++i) {
    left = left + lasts_at_1g(60 + 100 * i);
    EXPECT_EQ(probe->arrivals()[i].at, left + kDeviceDelay);
    EXPECT_EQ(probe->arrivals()[i].bytes, numbered_frame(60 + 100 * i, i));
  }
  EXPECT_EQ(edge->counters().in_packets, 10U);
  EXPECT_EQ(edge->counters().in_bytes, 10U * 60 + 45 * 100);
}

TEST_F(DeviceEdgeTest, KeepsAFrameBehindTheOneBeforeItAcrossPolls) {
  build();
  outside->bring(*pool, numbered_frame(1500, 0));
  run_to(Instant::at(Duration::us(1)));
  outside->bring(*pool, numbered_frame(60, 1));
  run_to(Instant::at(Duration::us(2)));  // the first one needs 12.192 µs
  run_to(Instant::at(Duration::ms(1)));
  ASSERT_EQ(probe->arrivals().size(), 2U);
  EXPECT_EQ(probe->arrivals()[1].at - probe->arrivals()[0].at, lasts_at_1g(60));
}

TEST_F(DeviceEdgeTest, LeavesFramesOutsideWhileTheLinkIsBehindItsHorizon) {
  build({.horizon = Duration::us(50)});
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(outside->bring(*pool, numbered_frame(1500, 0)));
  run_to(Instant::at(Duration::us(1)));
  // One burst of 32 × 12.192 µs is already past the horizon; nothing more is taken until it has drained to 50 µs.
  EXPECT_EQ(outside->untaken(), 168U);
  run_to(Instant::at(Duration::us(300)));
  EXPECT_EQ(outside->untaken(), 168U);
  EXPECT_GT(edge->counters().pauses, 0U);
  run_to(Instant::at(Duration::us(1) + 32 * lasts_at_1g(1500) - Duration::us(50)));
  EXPECT_EQ(outside->untaken(), 136U);
  for (int i = 1; i < 40; ++i) run_to(Instant::at(Duration::us(340 + 100 * i)));
  run_to(Instant::at(Duration::ms(10)));
  ASSERT_EQ(probe->arrivals().size(), 200U);  // late, but all of them, and never faster than the link
  EXPECT_EQ(probe->arrivals().back().at, Instant::at(Duration::us(1) + kDeviceDelay + 200 * lasts_at_1g(1500)));
}

TEST_F(DeviceEdgeTest, StaysBusyWhileTheLinkIsBehind) {
  build();
  for (int i = 0; i < 3; ++i) outside->bring(*pool, numbered_frame(1500, 0));
  EXPECT_FALSE(edge->poll(Instant::never()));
  run_to(Instant::at(Duration::us(1)));
  EXPECT_TRUE(edge->poll(Instant::at(Duration::us(36))));
  EXPECT_FALSE(edge->poll(Instant::at(Duration::us(1) + 3 * lasts_at_1g(1500))));
}

TEST_F(DeviceEdgeTest, DropsAndNamesFramesThatNoPortTakes) {
  build();
  outside->bring(*pool, numbered_frame(13, 0));
  outside->bring(*pool, numbered_frame(0, 0));
  outside->bring(*pool, numbered_frame(kMaxFrameBytes + 1, 0));
  outside->bring(*pool, numbered_frame(14, 1));
  outside->bring(*pool, numbered_frame(kMaxFrameBytes, 2));
  run_to(Instant::at(Duration::us(1)));
  run_to(Instant::at(Duration::ms(1)));
  EXPECT_EQ(count(edge->counters().in_drops, DropReason::kTruncated), 2U);
  EXPECT_EQ(count(edge->counters().in_drops, DropReason::kOversize), 1U);
  ASSERT_EQ(probe->arrivals().size(), 2U);
  EXPECT_EQ(probe->arrivals()[0].bytes, numbered_frame(14, 1));
  EXPECT_EQ(probe->arrivals()[1].bytes, numbered_frame(kMaxFrameBytes, 2));
}

TEST_F(DeviceEdgeTest, PutsAFrameInPiecesTogether) {
  build();
  outside->bring(*pool, numbered_frame(3000, 5), 3);
  outside->bring(*pool, numbered_frame(2 * kMaxFrameBytes, 5), 4);
  run_to(Instant::at(Duration::us(1)));
  run_to(Instant::at(Duration::ms(1)));
  ASSERT_EQ(probe->arrivals().size(), 1U);
  EXPECT_EQ(probe->arrivals()[0].bytes, numbered_frame(3000, 5));
  EXPECT_EQ(probe->arrivals()[0].frame_bytes, 3000U);
  EXPECT_EQ(count(edge->counters().in_drops, DropReason::kOversize), 1U);
}

TEST_F(DeviceEdgeTest, HandsFramesOutAfterTheyArriveAndNotBefore) {
  build();
  probe->send_at(Instant{}, numbered_frame(100, 3));
  const Instant arrives = Instant{} + lasts_at_1g(100) + kDeviceDelay;
  run_to(arrives);
  EXPECT_FALSE(outside->take());
  run_to(arrives + Duration::ps(1));
  EXPECT_EQ(outside->take(), numbered_frame(100, 3));
  EXPECT_EQ(edge->counters().out_packets, 1U);
  EXPECT_EQ(edge->counters().out_bytes, 100U);
}

TEST_F(DeviceEdgeTest, PadsShortFramesToSixtyBytes) {
  build();
  probe->send_at(Instant{}, numbered_frame(42, 1));
  run_to(Instant::at(Duration::us(10)));
  std::vector<uint8_t> padded = numbered_frame(42, 1);
  padded.resize(60);
  EXPECT_EQ(outside->take(), padded);
}

TEST_F(DeviceEdgeTest, PutsElidedPayloadBackBeforeTheLastFourBytes) {
  build();
  probe->send_at(Instant{}, numbered_frame(70, 1), 4166);
  run_to(Instant::at(Duration::us(100)));
  std::vector<uint8_t> whole = numbered_frame(70, 1);
  whole.insert(whole.end() - 4, 4166 - 70, 0);
  EXPECT_EQ(outside->take(), whole);
}

TEST_F(DeviceEdgeTest, HoldsWhatTheOutsideDoesNotTakeAndKeepsTheOrder) {
  build({}, 16);  // the outside takes 15 frames
  for (uint8_t i = 0; i < 100; ++i) probe->send_at(Instant{}, numbered_frame(100, i));
  run_to(Instant::at(Duration::ms(1)));
  EXPECT_EQ(edge->held_packets(), 85U);
  EXPECT_EQ(edge->held_bytes(), 8500U);
  EXPECT_TRUE(edge->poll(Instant::at(Duration::ms(1))));
  for (uint8_t i = 0; i < 100; ++i) {
    auto frame = outside->take();
    if (!frame) {
      run_to(engine->now() + Duration::us(1));
      frame = outside->take();
    }
    ASSERT_EQ(frame, numbered_frame(100, i));
  }
  EXPECT_EQ(edge->held_packets(), 0U);
  EXPECT_EQ(edge->held_bytes(), 0U);
  EXPECT_EQ(edge->counters().out_packets, 100U);
  EXPECT_EQ(edge->counters().held_bytes_max, 8500U);
  EXPECT_EQ(total(edge->counters().out_drops), 0U);
}

TEST_F(DeviceEdgeTest, DropsAsEdgeFullBeyondTheBytesItMayHold) {
  build({.hold_bytes = 6000}, 16);
  for (uint8_t i = 0; i < 100; ++i) probe->send_at(Instant{}, numbered_frame(60, i));
  for (uint8_t i = 100; i < 200; ++i) probe->send_at(Instant{}, numbered_frame(600, i));
  run_to(Instant::at(Duration::ms(10)));
  // 15 outside, 85 × 60 = 5100 held; one of 600 still fits, 99 do not.
  EXPECT_EQ(edge->held_packets(), 86U);
  EXPECT_EQ(edge->held_bytes(), 5700U);
  EXPECT_EQ(count(edge->counters().out_drops, DropReason::kEdgeFull), 99U);
  engine->drain();
  EXPECT_EQ(edge->counters().out_packets + total(edge->counters().out_drops), 200U);
}

TEST_F(DeviceEdgeTest, FillsItsRingOfHeldFramesManyTimesRound) {
  build({.hold_bytes = 1000}, 16);
  uint8_t next = 0;
  for (int round = 0; round < 100; ++round) {
    for (uint8_t i = 0; i < 20; ++i)
      probe->send_at(engine->now(), numbered_frame(64, static_cast<uint8_t>(round * 20 + i)));
    engine->wake(probe->id(), engine->now());
    for (int step = 0; step < 3; ++step) {
      run_to(engine->now() + Duration::us(10));
      while (auto frame = outside->take()) ASSERT_EQ(frame, numbered_frame(64, next++));
    }
  }
  EXPECT_EQ(edge->counters().out_packets, 2000U);
}

TEST_F(DeviceEdgeTest, GivesUpAFrameThatStoodFirstForItsTime) {
  build({.hold_time = Duration::ms(1)}, 2);  // the outside takes one frame
  for (uint8_t i = 0; i < 3; ++i) probe->send_at(Instant{}, numbered_frame(60, i));
  run_to(Instant::at(Duration::us(10)));
  run_to(Instant::at(Duration::us(1010)));
  EXPECT_EQ(edge->held_packets(), 2U);
  run_to(Instant::at(Duration::us(1011)));
  EXPECT_EQ(edge->held_packets(), 1U);
  run_to(Instant::at(Duration::us(1500)));
  EXPECT_EQ(edge->held_packets(), 1U);  // the next has its own time
  EXPECT_EQ(count(edge->counters().out_drops, DropReason::kEdgeFull), 1U);
  EXPECT_EQ(edge->held_bytes(), 60U);
  EXPECT_EQ(outside->take(), numbered_frame(60, 0));
  run_to(Instant::at(Duration::us(1600)));
  EXPECT_EQ(outside->take(), numbered_frame(60, 2));
}

TEST(DeviceTest, SaysWhichDeviceAndWhichCallFailed) {
  start_eal({.memory_mib = 256});
  PacketPool pool{"bad_device", 1023, 2048};
  const auto device = Device::open({.devargs = "net_no_such_driver0,x=1"}, pool);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().where, "net_no_such_driver0,x=1");
  EXPECT_NE(device.error().message.find("rte_dev_probe"), std::string::npos) << device.error().message;
}

TEST(DeviceTest, OpensAVirtualDeviceByItsDevargsAndLeavesNothingBehind) {
  start_eal({.memory_mib = 256});
  PacketPool pool{"null_device", 4095, 2048};
  for (int i = 0; i < 3; ++i) {
    const auto device = Device::open({.devargs = "net_null7,size=64"}, pool);
    ASSERT_TRUE(device) << device.error().message;
    EXPECT_TRUE((*device)->up());
    EXPECT_EQ((*device)->name(), "net_null7");
    EXPECT_TRUE((*device)->statistics().contains("rx_good_packets"));
  }
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(DeviceTest, RefusesAnMtuThatThePoolHasNoRoomFor) {
  start_eal({.memory_mib = 256});
  PacketPool pool{"small_room", 1023, 2048};
  const auto device = Device::open({.devargs = "net_null8", .mtu = 4000}, pool);
  ASSERT_FALSE(device);
  EXPECT_NE(device.error().message.find("4000"), std::string::npos) << device.error().message;
  EXPECT_EQ(pool.in_use(), 0U);
}

}  // namespace
}  // namespace softspine::dataplane
