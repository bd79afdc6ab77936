// SPDX-License-Identifier: Apache-2.0
// A NIC between a device whose outside is the test and a peer that says what it is told, on a clock moved by hand.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "dataplane/dpdk/device_edge.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "dataplane/engine/engine.hpp"
#include "tests/scenario/edge/nic_frames.hpp"
#include "tests/scenario/edge/probe_node.hpp"
#include "tests/scenario/edge/ring_device.hpp"

namespace softspine::dataplane {

inline const tests::Mac kPeer = tests::station(7);
inline const tests::Mac kOwn = tests::station(1);

inline NicConfig nic_config() {
  NicConfig config{.mac = kOwn, .pfc_enable = 0x08};
  config.priority_of_dscp.fill(1);
  config.priority_of_dscp[3] = 3;
  return config;
}
class NicBench : public testing::Test {
 protected:
  static void SetUpTestSuite() { start_eal({.memory_mib = 256}); }

  void build(const NicConfig& config, uint32_t ring_size = 256) {
    static int serial = 0;
    outside = std::make_unique<RingDevice>("nic" + std::to_string(serial), ring_size);
    pool = std::make_unique<PacketPool>("nic_device_pool" + std::to_string(serial), 4095, kMaxFrameBytes);
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
    engine->connect(a, b, Rate::gbps(1), Duration::us(1));
  }
  void run_to(Instant now) {
    clock.set(now);
    engine->run(now);
  }
  // In steps of 10 µs.
  void run_on(Duration length) {
    const Instant end = engine->now() + length;
    while (engine->now() < end) run_to(std::min(end, engine->now() + Duration::us(10)));
  }
  bool host_sends(const Bytes& frame) { return outside->bring(*pool, frame); }
  void peer_sends(const Bytes& frame) {
    probe->send_at(engine->now(), frame);
    engine->wake(probe->id(), engine->now());
  }
  std::vector<uint16_t> numbers_seen() const {
    std::vector<uint16_t> numbers;
    for (const Probe::Arrival& it : probe->arrivals()) {
      if (!is_pause(it.bytes)) numbers.push_back(number_in(it.bytes));
    }
    return numbers;
  }
  std::vector<Bytes> pauses_seen() const {
    std::vector<Bytes> pauses;
    for (const Probe::Arrival& it : probe->arrivals()) {
      if (is_pause(it.bytes)) pauses.push_back(it.bytes);
    }
    return pauses;
  }
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

}  // namespace softspine::dataplane
