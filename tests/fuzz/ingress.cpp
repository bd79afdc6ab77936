// SPDX-License-Identifier: Apache-2.0
// The input is one frame, of any length. It comes in at a port of a ToR, an aggregation or a core switch (its length
// chooses which, and which kind of port); a good frame comes behind it. Whatever it is: packets are conserved, the good
// one gets through, and the pool is full again. A switch has some inputs behind each other, since making one takes
// longer than a frame: what one input alone does not show is found again by libFuzzer's seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "dataplane/dpdk/eal.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {

namespace {

constexpr uint32_t kPackets = 4096;
constexpr uint32_t kRoomBytes = 9300;
constexpr int kInputsOfASwitch = 4'096;
constexpr uint16_t kPorts[] = {0, 2, 4, 6, 7};  // untagged, tagged, to the fabric, two routed subnets

Bytes good_frame() {
  return ethernet_frame(
      kRouter, station(104), 0x0800,
      ipv4_packet({.from = ip4("10.1.7.7"), .to = ip4("10.4.0.1"), .ttl = 9, .tos = 48 << 2}, counting(30)));
}

// Each is made when a frame comes for it.
struct Switches {
  std::optional<Bench<pipelines::Tor>> tor;
  std::optional<Bench<pipelines::Aggregation>> aggregation;
  std::optional<Bench<pipelines::Core>> core;
};

template <typename Role>
void expect_survived(std::optional<Bench<Role>>& made, const Bytes& frame, size_t way) {
  if (!made) made.emplace();
  Bench<Role>& bench = *made;
  static const Bytes good = good_frame();
  static const Bytes forwarded = ethernet_frame(
      station(105), kRouter, 0x0800,
      ipv4_packet({.from = ip4("10.1.7.7"), .to = ip4("10.4.0.1"), .ttl = 8, .tos = 48 << 2}, counting(30)));
  const uint16_t port = kPorts[way % std::size(kPorts)];
  // Or the same at the last port, with part of its payload left out as built-in hosts do.
  const bool is_short = port == kPorts[4] && frame.size() >= 60;
  bench.send(port, frame, is_short ? static_cast<uint32_t>(frame.size() * 2) : 0);
  bench.run();
  expect_conserved(bench.node());
  const Frames out = bench.exchange(4, good);
  EXPECT_EQ(std::ranges::count(out, Frame{5, forwarded}), 1);
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
  static_cast<void>(softspine::tests::packet_pool());  // outlives the switches
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace softspine;
  static tests::Switches switches;
  static int inputs = 0;
  const tests::Bytes frame{data, data + std::min<size_t>(size, tests::kRoomBytes)};
  switch (size % 3) {
    case 0: tests::expect_survived(switches.tor, frame, size / 3); break;
    case 1: tests::expect_survived(switches.aggregation, frame, size / 3); break;
    default: tests::expect_survived(switches.core, frame, size / 3); break;
  }
  if (++inputs % tests::kInputsOfASwitch != 0) return 0;
  switches.tor.reset();
  switches.aggregation.reset();
  switches.core.reset();
  EXPECT_EQ(tests::packet_pool().in_use(), 0u);
  return 0;
}
