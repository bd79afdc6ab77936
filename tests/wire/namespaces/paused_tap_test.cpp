// SPDX-License-Identifier: Apache-2.0
// A TAP whose NIC is paused: the kernel's queue holds what it can, the kernel drops the rest, and both are counted.
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <cstdlib>
#include <memory>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/edge/owned_fd.hpp"
#include "dataplane/edge/tap_edge.hpp"
#include "dataplane/engine/engine.hpp"
#include "testbeds/namespaces/network_namespace.hpp"
#include "tests/scenario/edge/nic_frames.hpp"
#include "tests/scenario/edge/probe_node.hpp"

namespace softspine::testbeds {
namespace {

using namespace dataplane;

constexpr uint32_t kFrames = 6'000;  // the kernel keeps 4096 of them
constexpr uint16_t kExperimental = 0x88b5;

// As many as the kernel takes; what it does not is an error of the test.
void send_frames(const std::string& interface, uint32_t count) {
  const OwnedFd fd{socket(AF_PACKET, SOCK_RAW, 0)};
  ASSERT_TRUE(fd);
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
  const Bytes frame = tests::ethernet_frame(tests::kAll, tests::station(1), kExperimental, tests::counting(200));
  for (uint32_t i = 0; i < count; ++i) {
    ASSERT_EQ(sendto(fd.get(), frame.data(), frame.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to),
              static_cast<ssize_t>(frame.size()));
  }
}

uint32_t experimental_in(const Probe& probe) {
  uint32_t count = 0;
  for (const Probe::Arrival& it : probe.arrivals()) count += it.bytes[12] == 0x88 && it.bytes[13] == 0xb5 ? 1 : 0;
  return count;
}

class Link {
 public:
  explicit Link(PacketPool& pool) : engine_(clock_, Engine::Config{}) {
    NicConfig nic{.mac = tests::station(1), .pfc_enable = 0x02};
    nic.priority_of_dscp.fill(1);
    auto tap = TapEdge::open("tap", {.interface = "paused0", .address = {}}, pool, nic);
    if (!tap) throw std::runtime_error(tap.error().message);
    auto probe = std::make_unique<Probe>(pool);
    edge = tap->get();
    peer = probe.get();
    engine_.connect({engine_.add(std::move(*tap), 0), PortNo{0}}, {engine_.add(std::move(probe), 0), PortNo{0}},
                    Rate::gbps(10), Duration::us(1));
  }
  ~Link() { engine_.drain(); }
  void run_on(Duration length) {
    const Instant end = engine_.now() + length;
    while (engine_.now() < end) {
      clock_.set(engine_.now() + Duration::us(10));
      engine_.run(engine_.now() + Duration::us(10));
    }
  }
  void say(const Bytes& frame) {
    peer->send_at(engine_.now(), frame);
    engine_.wake(peer->id(), engine_.now());
    run_on(Duration::us(20));
  }
  TapEdge* edge = nullptr;
  Probe* peer = nullptr;

 private:
  ManualClock clock_;
  Engine engine_;
};

TEST(PausedTap, LosesInTheKernelWhatItsQueueCannotHoldAndTheKernelSaysHowMuch) {
  start_eal({.memory_mib = 256});
  auto space = NetworkNamespace::make();
  ASSERT_TRUE(space) << space.error().message;
  PacketPool pool{"paused_tap", 16'383, 2'048};
  ASSERT_TRUE(space->within([&] {
    Link link{pool};
    ASSERT_EQ(std::system("echo 1 >/proc/sys/net/ipv6/conf/paused0/disable_ipv6"), 0);
    link.run_on(Duration::us(100));
    const uint64_t before = link.edge->lost_outside();
    link.say(pfc_frame(tests::station(7), 0x02, 0xffff));
    send_frames("paused0", kFrames);
    link.run_on(Duration::us(500));
    EXPECT_EQ(experimental_in(*link.peer), 0U);
    const uint64_t lost = link.edge->lost_outside() - before;
    EXPECT_GT(lost, kFrames - 4'096 - 1'100);
    EXPECT_LT(lost, kFrames - 1'000);
    EXPECT_GT(link.edge->counters().pauses, 0U);
    link.say(pfc_frame(tests::station(7), 0x02, 0));
    link.run_on(Duration::ms(5));
    EXPECT_EQ(experimental_in(*link.peer) + lost, kFrames);
    EXPECT_EQ(link.edge->lost_outside() - before, lost);
  }));
  EXPECT_EQ(pool.in_use(), 0U);
}

}  // namespace
}  // namespace softspine::testbeds
