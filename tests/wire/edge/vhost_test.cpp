// SPDX-License-Identifier: Apache-2.0
// vhost-user with a peer in another process: frames go round, the peer is killed and comes back, others misbehave.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "dataplane/dpdk/vhost_device.hpp"
#include "dataplane/edge/owned_fd.hpp"
#include "tests/scenario/edge/probe_node.hpp"
#include "tests/wire/edge/child.hpp"
#include "tests/wire/edge/vhost_client.hpp"
#include "tests/wire/edge/wall_fabric.hpp"

namespace softspine::dataplane {
namespace {

uint64_t count(const DropCounters& drops, DropReason reason) {
  return drops[static_cast<size_t>(reason)];
}

class VhostTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { start_eal({.memory_mib = 512}); }
  void SetUp() override {
    char name[] = "/tmp/softspine-vhost-XXXXXX";
    folder = mkdtemp(name);
    static int serial = 0;
    fabric = std::make_unique<WallFabric>("vhost_pool" + std::to_string(serial++));
  }
  void TearDown() override {
    fabric->engine.drain();
    const uint64_t in_use_before_close = fabric->pool.in_use();
    EXPECT_EQ(in_use_before_close, 0U);
    fabric.reset();
    EXPECT_EQ(rmdir(folder.c_str()), 0) << "something was left in " << folder;
  }

  std::string socket_path(int n = 0) const { return folder + "/guest" + std::to_string(n); }
  DeviceEdge& add_guest_port(int n = 0) {
    auto device = open_vhost_device(socket_path(n), fabric->pool);
    EXPECT_TRUE(device) << device.error().where << ": " << device.error().message;
    return fabric->add(std::make_unique<DeviceEdge>("guest", std::move(*device), fabric->pool, DeviceEdge::Config{}));
  }
  Probe& add_probe(Node& at) {
    Probe& probe = fabric->add(std::make_unique<Probe>(fabric->pool));
    fabric->connect(at, probe);
    return probe;
  }
  Child peer(int n = 0) const { return Child{{VHOST_PEER, socket_path(n)}}; }
  // Sends `frames` frames and waits until all have come back.
  bool echoes(Probe& probe, uint32_t frames, uint32_t bytes = 1000) {
    const size_t before = probe.arrivals().size();
    for (uint32_t i = 0; i < frames; ++i)
      probe.send_at(fabric->engine.now(), numbered_frame(bytes, static_cast<uint8_t>(i)));
    fabric->engine.wake(probe.id(), fabric->engine.now());
    if (!fabric->run_until([&] { return probe.arrivals().size() == before + frames; })) return false;
    for (uint32_t i = 0; i < frames; ++i) {
      if (probe.arrivals()[before + i].bytes != numbered_frame(bytes, static_cast<uint8_t>(i))) return false;
    }
    return true;
  }

  std::string folder;
  std::unique_ptr<WallFabric> fabric;
};

TEST_F(VhostTest, CarriesFramesToAGuestAndBack) {
  DeviceEdge& edge = add_guest_port();
  Probe& probe = add_probe(edge);
  Child guest = peer();
  ASSERT_TRUE(fabric->run_until([&] { return edge.device().up(); }));
  EXPECT_TRUE(echoes(probe, 1000));  // more than the guest's ring: what it has no room for is held
  EXPECT_TRUE(echoes(probe, 20, 9000));
  EXPECT_EQ(edge.counters().out_packets, 1020U);
  EXPECT_EQ(edge.counters().in_packets, 1020U);
}

TEST_F(VhostTest, ServesAGuestThatWasKilledAndCameBack) {
  DeviceEdge& edge = add_guest_port();
  Probe& probe = add_probe(edge);
  for (uint64_t life = 1; life <= 5; ++life) {
    Child guest = peer();
    ASSERT_TRUE(fabric->run_until([&] { return edge.device().arrivals() == life && edge.device().up(); })) << life;
    ASSERT_TRUE(echoes(probe, 100)) << life;
    // Killed in the middle of traffic.
    for (uint8_t i = 0; i < 200; ++i) probe.send_at(fabric->engine.now(), numbered_frame(1000, i));
    fabric->engine.wake(probe.id(), fabric->engine.now());
    fabric->run_for(Duration::us(100));
    guest.kill();
    ASSERT_TRUE(fabric->run_until([&] { return !edge.device().up(); })) << life;
    fabric->run_for(Duration::ms(5));
  }
}

TEST_F(VhostTest, EndsFramesAsLinkDownWhileNobodyIsThere) {
  DeviceEdge& edge = add_guest_port();
  Probe& probe = add_probe(edge);
  probe.send_at(Instant{}, numbered_frame(100, 1));
  ASSERT_TRUE(fabric->run_until([&] { return count(edge.counters().out_drops, DropReason::kLinkDown) == 1; }));
}

TEST_F(VhostTest, HoldsForAGuestThatTakesNothingUpToItsBound) {
  DeviceEdge& edge = add_guest_port();
  Probe& probe = add_probe(edge);
  Child guest{{VHOST_PEER, socket_path(), "deaf"}};
  ASSERT_TRUE(fabric->run_until([&] { return edge.device().up(); }));
  for (int i = 0; i < 2000; ++i) probe.send_at(fabric->engine.now(), numbered_frame(1000, 1));
  fabric->engine.wake(probe.id(), fabric->engine.now());
  fabric->run_for(Duration::ms(100));
  EXPECT_GT(edge.counters().out_packets, 0U);
  EXPECT_EQ(edge.held_bytes(), (1U << 20) / 1000 * 1000);
  EXPECT_EQ(edge.counters().out_packets + edge.held_packets() + count(edge.counters().out_drops, DropReason::kEdgeFull),
            2000U);
  guest.kill();
  ASSERT_TRUE(fabric->run_until([&] { return edge.held_packets() == 0; }));
}

TEST_F(VhostTest, KeepsOtherPortsGoingWhilePeersTalkNonsense) {
  DeviceEdge& edge = add_guest_port(0);
  Probe& probe = add_probe(edge);
  DeviceEdge& target = add_guest_port(1);
  add_probe(target);
  Child guest = peer(0);
  ASSERT_TRUE(fabric->run_until([&] { return edge.device().up(); }));
  std::mt19937 random{7};
  for (int i = 0; i < 300; ++i) {
    OwnedFd bad = connect_to(socket_path(1));
    if (!bad) continue;
    std::vector<uint32_t> words(1 + random() % 40);
    for (uint32_t& word : words) word = static_cast<uint32_t>(random());
    words[0] = static_cast<uint32_t>(random() % 45);                                 // a request that exists
    if (words.size() > 2) words[1] = 1;                                              // of the right version
    if (words.size() > 2) words[2] = static_cast<uint32_t>((words.size() - 3) * 4);  // and whole
    send(bad.get(), words.data(), words.size() * 4, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (i % 10 == 0) {
      ASSERT_TRUE(echoes(probe, 50)) << i;
    }
  }
  EXPECT_TRUE(echoes(probe, 1000));
  Child late = peer(1);
  EXPECT_TRUE(fabric->run_until([&] { return target.device().up(); }));
}

TEST_F(VhostTest, LetsAGuestUpWhileAnotherPortsPeerSentHalfAMessage) {
  DeviceEdge& edge = add_guest_port(0);
  Probe& probe = add_probe(edge);
  add_probe(add_guest_port(1));
  const OwnedFd half = connect_to(socket_path(1));
  const uint32_t set_memory_table[] = {5, 1, 200};  // 200 bytes are to follow, and never do
  ASSERT_EQ(send(half.get(), set_memory_table, sizeof set_memory_table, MSG_NOSIGNAL), 12);
  fabric->run_for(Duration::ms(50));
  Child guest = peer(0);
  ASSERT_TRUE(fabric->run_until([&] { return edge.device().up(); }));
  EXPECT_TRUE(echoes(probe, 100));
}

TEST_F(VhostTest, OutlivesAGuestWhoseMemoryVanishes) {
  DeviceEdge& edge = add_guest_port(0);
  Probe& probe = add_probe(edge);
  DeviceEdge& doomed = add_guest_port(1);
  Probe& sender = add_probe(doomed);
  Child guest = peer(0);
  Child vanishing{{VHOST_PEER, socket_path(1), "vanish"}};
  ASSERT_TRUE(fabric->run_until([&] { return edge.device().up() && doomed.device().up(); }));
  sender.send_at(fabric->engine.now(), numbered_frame(1000, 1));
  fabric->engine.wake(sender.id(), fabric->engine.now());
  ASSERT_TRUE(fabric->run_until([&] { return vanishing.output().find("cut") != std::string::npos; }));
  for (int i = 0; i < 600; ++i) sender.send_at(fabric->engine.now(), numbered_frame(1000, 1));
  fabric->engine.wake(sender.id(), fabric->engine.now());
  EXPECT_TRUE(echoes(probe, 1000));
  vanishing.kill();
  ASSERT_TRUE(fabric->run_until([&] { return !doomed.device().up(); }));
  Child again = peer(1);
  ASSERT_TRUE(fabric->run_until([&] { return doomed.device().up(); }));
  EXPECT_TRUE(echoes(sender, 100));
}

TEST_F(VhostTest, SurvivesAStormOfConnectionsAndServesTheGuestAfterIt) {
  DeviceEdge& edge = add_guest_port();
  Probe& probe = add_probe(edge);
  for (int i = 0; i < 3000; ++i) {
    const OwnedFd storm = connect_to(socket_path());
    const uint32_t get_features[] = {1, 1, 0};
    if (i % 2 == 0) send(storm.get(), get_features, sizeof get_features, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  Child guest = peer();
  ASSERT_TRUE(fabric->run_until([&] { return edge.device().up(); }));
  EXPECT_TRUE(echoes(probe, 100));
}

TEST_F(VhostTest, GivesTheSocketToItsOwnerOnlyAndTakesItOverFromTheDead) {
  {
    const auto device = open_vhost_device(socket_path(), fabric->pool);
    ASSERT_TRUE(device);
    struct stat found{};
    ASSERT_EQ(stat(socket_path().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
    const auto second = open_vhost_device(socket_path(), fabric->pool);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().where, socket_path());
  }
  OwnedFd dead{socket(AF_UNIX, SOCK_STREAM, 0)};
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  socket_path().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(dead.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  dead = OwnedFd{};
  EXPECT_TRUE(open_vhost_device(socket_path(), fabric->pool));
}

// The driver's side of vhost-user, as user-mode Linux 6.1 speaks it to learn of its link.
class Driver {
 public:
  explicit Driver(const std::string& path) : socket_(connect_to(path)) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    notices_ = OwnedFd{ends[0]};
    theirs_ = OwnedFd{ends[1]};
  }
  void send_words(uint32_t request, std::vector<uint32_t> payload, uint32_t flags = 1, bool with_descriptor = false) {
    const std::vector<int> descriptors(with_descriptor ? 1 : 0, theirs_.get());
    ASSERT_TRUE(send_request(socket_, request, flags, std::move(payload), descriptors));
  }
  // A whole answer, its header first.
  std::vector<uint32_t> answer(size_t words) { return read_words(socket_, words); }
  std::vector<uint32_t> notice() { return read_words(notices_, 3); }
  bool has_notice() {
    char byte;
    return recv(notices_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
  }
  // virtio_net_config from its beginning to behind the duplex byte.
  std::vector<uint8_t> configuration() {
    send_words(24, {0, 20, 0, 0, 0, 0, 0, 0});
    const auto words = answer(3 + 3 + 5);
    EXPECT_EQ(std::vector(words.begin(), words.begin() + 5), (std::vector<uint32_t>{24, 5, 32, 0, 20}));
    std::vector<uint8_t> bytes(20);
    std::memcpy(bytes.data(), &words[6], bytes.size());
    return bytes;
  }

 private:
  static std::vector<uint32_t> read_words(const OwnedFd& from, size_t count) {
    std::vector<uint32_t> words(count);
    EXPECT_EQ(recv(from.get(), words.data(), count * 4, MSG_WAITALL), static_cast<ssize_t>(count * 4));
    return words;
  }
  OwnedFd socket_;
  OwnedFd notices_;
  OwnedFd theirs_;
};

TEST_F(VhostTest, TellsTheGuestsDriverOfItsLink) {
  auto device = open_vhost_device(socket_path(), fabric->pool, 25'000);
  ASSERT_TRUE(device);
  Driver driver{socket_path()};
  driver.send_words(1, {});
  const auto features = driver.answer(5);
  EXPECT_NE(features[3] & (1U << 16), 0U) << "VIRTIO_NET_F_STATUS";
  EXPECT_NE(features[4] & (1U << 31), 0U) << "VIRTIO_NET_F_SPEED_DUPLEX";
  driver.send_words(15, {});
  EXPECT_EQ(driver.answer(5)[3] & 0x220U, 0x220U) << "SLAVE_REQ, CONFIG";
  driver.send_words(16, {0x228, 0});
  driver.send_words(21, {}, 1 | 8, true);
  EXPECT_EQ(driver.answer(5), (std::vector<uint32_t>{21, 5, 8, 0, 0}));
  EXPECT_EQ(driver.configuration(),
            (std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0xa8, 0x61, 0, 0, 1, 0, 0, 0}));
  EXPECT_FALSE(driver.has_notice());
  for (const int up : {0, 1}) {
    (*device)->set_link(up != 0);
    EXPECT_EQ(driver.notice(), (std::vector<uint32_t>{2, 1, 0}));
    EXPECT_EQ(driver.configuration()[6], up);
  }
}

TEST_F(VhostTest, AnswersAQuestionBeyondTheConfigurationWithoutAPayload) {
  auto device = open_vhost_device(socket_path(), fabric->pool);
  ASSERT_TRUE(device);
  Driver driver{socket_path()};
  const std::vector<uint32_t> nothing{24, 5, 0};
  for (const std::vector<uint32_t>& asked :
       {std::vector<uint32_t>{0, 257, 0}, {200, 57, 0}, {0xffffffff, 2, 0}, {2, 0xffffffff, 0}, {0, 0, 0}, {7}, {}}) {
    driver.send_words(24, asked);
    EXPECT_EQ(driver.answer(3), nothing);
  }
  driver.send_words(24, {255, 1, 0});
  EXPECT_EQ(driver.answer(3)[2], 13U);
}

TEST_F(VhostTest, RefusesAPathThatHoldsSomethingElse) {
  const std::string file = folder + "/file";
  fclose(fopen(file.c_str(), "w"));
  const auto device = open_vhost_device(file, fabric->pool);
  ASSERT_FALSE(device);
  EXPECT_NE(device.error().message.find("not a socket"), std::string::npos) << device.error().message;
  EXPECT_EQ(unlink(file.c_str()), 0);
  const auto too_long = open_vhost_device("/tmp/" + std::string(120, 'x'), fabric->pool);
  ASSERT_FALSE(too_long);
}

}  // namespace
}  // namespace softspine::dataplane
