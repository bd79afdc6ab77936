// SPDX-License-Identifier: Apache-2.0
// The input is one frame, of any length. It comes in at each kind of port of a ToR, an aggregation and a core
// switch; a good frame comes behind it. Whatever it is: packets are conserved, the good one gets through, and
// the pool is full again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "dataplane/dpdk/eal.hpp"
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {

namespace {

constexpr uint32_t kPackets = 4096;
constexpr uint32_t kRoomBytes = 9300;

Bytes good_frame() {
  return ethernet_frame(
      kRouter, station(104), 0x0800,
      ipv4_packet({.from = ip4("10.1.7.7"), .to = ip4("10.4.0.1"), .ttl = 9, .tos = 48 << 2}, counting(30)));
}

template <typename Role>
void expect_survived(const Bytes& frame) {
  static const Bytes good = good_frame();
  static const Bytes forwarded = ethernet_frame(
      station(105), kRouter, 0x0800,
      ipv4_packet({.from = ip4("10.1.7.7"), .to = ip4("10.4.0.1"), .ttl = 8, .tos = 48 << 2}, counting(30)));
  {
    Bench<Role> bench;
    for (const uint16_t port : {uint16_t{0}, uint16_t{2}, uint16_t{4}, uint16_t{6}}) bench.send(port, frame);
    // The same, with part of its payload left out as built-in hosts do.
    if (frame.size() >= 60) bench.send(7, frame, static_cast<uint32_t>(frame.size() * 2));
    bench.run();
    expect_conserved(bench.node());
    const Frames out = bench.exchange(4, good);
    EXPECT_EQ(std::ranges::count(out, Frame{5, forwarded}), 1);
  }
  EXPECT_EQ(packet_pool().in_use(), 0u);
}

}  // namespace

dataplane::PacketPool& packet_pool() {
  static dataplane::PacketPool pool{"fuzz", kPackets, kRoomBytes};
  return pool;
}

}  // namespace softspine::tests

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  testing::InitGoogleTest(argc, *argv);
  testing::FLAGS_gtest_break_on_failure = true;  // an expectation that fails is a find
  softspine::dataplane::start_eal({.memory_mib = 256});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace softspine;
  const tests::Bytes frame{data, data + std::min<size_t>(size, tests::kRoomBytes)};
  tests::expect_survived<pipelines::Tor>(frame);
  tests::expect_survived<pipelines::Aggregation>(frame);
  tests::expect_survived<pipelines::Core>(frame);
  return 0;
}
