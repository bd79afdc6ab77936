// SPDX-License-Identifier: Apache-2.0
// Two verbs hosts' edges on a clock moved by hand, and between them a node that pauses, marks and is cut off: what
// arrives is right, and the NIC in front of the RNIC does what any host's does.
#include "testbeds/verbs_device/verbs_edge.hpp"

#include <sys/un.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <thread>

#include "dataplane/engine/engine.hpp"
#include "dataplane/engine/wall_clock.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/scenario/edge/nic_frames.hpp"
#include "tests/scenario/verbs_device/two_rnics.hpp"

namespace softspine::testbeds {
namespace {

constexpr uint32_t kLeft = 0x0a000101;
constexpr uint32_t kRight = 0x0a000102;
constexpr uint8_t kPriority = 3;

// Hands on what arrives at either port, and records when the frames of requests came from the left.
class Between final : public Node {
 public:
  explicit Between(PacketPool& pool) : Node("between", 2), pool_(pool) {}

  std::vector<Instant> requests;
  uint64_t marks = 0;  // how many requests are still to be marked, as far as they can be
  void pause_left(uint16_t quanta, Instant now) {
    const auto bytes = dataplane::pfc_frame(tests::station(7), uint8_t{1 << kPriority}, quanta);
    Packet packet = pool_.make(static_cast<uint32_t>(bytes.size()));
    std::ranges::copy(bytes, packet.data());
    free_at_[0] = transmitter(PortNo{0}).send(std::move(packet), std::max(free_at_[0], now));
  }

  Instant run(Instant until) noexcept override {
    while (inbox().next() < until) {
      const Instant now = inbox().next();
      reach(now);
      Packet packet = inbox().take_first();
      const uint16_t from = packet.meta().in_port;
      if (from == 0 && packet.data()[42] <= bth::kWriteOnlyImmediate) see(packet, now);
      const uint16_t to = from == 0 ? 1 : 0;
      if (!transmitter(PortNo{to}).up()) {
        PacketPool::release(std::move(packet));
        continue;
      }
      free_at_[to] = transmitter(PortNo{to}).send(std::move(packet), std::max(free_at_[to], now));
    }
    return inbox().next();
  }

 private:
  void see(Packet& packet, Instant now) {
    requests.push_back(now);
    uint8_t* const l3 = packet.data() + ethernet::kBytes;
    if (marks == 0 || (l3[ipv4::kTos] & 3) == 0) return;
    l3[ipv4::kTos] |= 3;
    store16(l3 + ipv4::kChecksum, 0);
    store16(l3 + ipv4::kChecksum, ipv4_checksum(l3, ipv4::kMinBytes));
    --marks;
  }

  PacketPool& pool_;
  Instant free_at_[2];
};

// A program's socket, by which it wakes a device that sleeps.
class WakingSocket {
 public:
  explicit WakingSocket(const std::string& path) : socket_(socket(AF_UNIX, SOCK_SEQPACKET, 0)) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::ranges::copy(path, address.sun_path);
    EXPECT_EQ(connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  void wake() const {
    const DeviceRequest request{.call = Call::kWake};
    EXPECT_EQ(send(socket_.get(), &request, sizeof request, 0), static_cast<ssize_t>(sizeof request));
  }

 private:
  OwnedFd socket_;
};

class VerbsEdges : public testing::Test {
 protected:
  struct Host {
    VerbsEdge* edge = nullptr;
    std::unique_ptr<WakingSocket> socket;
    std::unique_ptr<DeviceCallsHandler> handler;
    std::unique_ptr<Program> program;
    std::vector<uint8_t> bytes = std::vector<uint8_t>(kBytes);
    uint32_t key = 0;
  };
  static constexpr uint32_t kBytes = 400'000;

  void build(const NicParameters& parameters = {}) {
    const PortRef left{engine_.add(open(left_, kLeft, 1, parameters), 0), PortNo{0}};
    const PortRef right{engine_.add(open(right_, kRight, 2, parameters), 0), PortNo{0}};
    auto between = std::make_unique<Between>(pool_);
    between_ = between.get();
    const NodeId middle = engine_.add(std::move(between), 0);
    engine_.connect(left, {middle, PortNo{0}}, Rate::gbps(10), Duration::us(1));
    engine_.connect(right, {middle, PortNo{1}}, Rate::gbps(10), Duration::us(1));
    cable_ = left;
    std::iota(left_.bytes.begin(), left_.bytes.end(), uint8_t{5});
    for (Host* host : {&left_, &right_}) {
      host->handler = std::make_unique<DeviceCallsHandler>(
          host->edge->rnic(),
          PortFacts{.state = IBV_PORT_ACTIVE, .largest_mtu = IBV_MTU_4096, .active_mtu = IBV_MTU_1024});
      host->program = std::make_unique<Program>(host->edge->rnic(), *host->handler);
      host->program->wake = [host] { host->socket->wake(); };
      host->key =
          host->program->register_memory(host->bytes.data(), kBytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    }
    const QueuePairAttributes own = attributes();
    qp_ = left_.program->make_pair();
    const uint32_t other = right_.program->make_pair();
    left_.program->connect(qp_, kRight, other, own);
    right_.program->connect(other, kLeft, qp_, own);
  }
  static QueuePairAttributes attributes() {
    QueuePairAttributes own{
        .path_mtu = IBV_MTU_1024, .most_reads = 1, .most_reads_of_peer = 1, .timeout = 10, .retries = 7};
    own.traffic_class = kPriority << 2;
    return own;
  }
  std::unique_ptr<VerbsEdge> open(Host& host, uint32_t address, uint8_t number, const NicParameters& parameters) {
    NicConfig nic{.mac = tests::station(number),
                  .gateway = tests::station(static_cast<uint8_t>(3 - number)),
                  .pfc_enable = 1 << kPriority};
    nic.priority_of_dscp.fill(1);
    nic.priority_of_dscp[kPriority] = kPriority;
    nic.parameters = parameters;
    VerbsEdge::Config config{.host = {.mac = nic.mac, .ipv4 = address, .gateway = nic.gateway},
                             .socket = folder_ / ("verbs." + std::to_string(number))};
    auto edge = VerbsEdge::open("host" + std::to_string(number), config, pool_, nic);
    EXPECT_TRUE(edge);
    host.edge = edge->get();
    host.socket = std::make_unique<WakingSocket>(config.socket);
    return std::move(*edge);
  }
  void write_all() {
    left_.program->post(qp_, {.opcode = IBV_WR_RDMA_WRITE,
                              .remote = reinterpret_cast<uint64_t>(right_.bytes.data()),
                              .key = right_.key,
                              .pieces = {{reinterpret_cast<uint64_t>(left_.bytes.data()), kBytes, left_.key}}});
  }
  void run_on(Duration length) {
    const Instant end = engine_.now() + length;
    while (engine_.now() < end) {
      const Instant next = std::min(end, engine_.now() + Duration::us(2));
      dynamic_cast<ManualClock&>(*clock_).set(next);
      engine_.run(next);
    }
  }
  // Sees that the write has ended well.
  void expect_whole() {
    const auto all = left_.program->all_completions();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].status, uint32_t{IBV_WC_SUCCESS});
    EXPECT_TRUE(left_.bytes == right_.bytes);
  }
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("verbs_edges" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    engine_.drain();
    std::filesystem::remove_all(folder_);
  }

  std::filesystem::path folder_;
  VerbsEdges() : VerbsEdges(std::make_unique<ManualClock>()) {}
  explicit VerbsEdges(std::unique_ptr<Clock> clock) : clock_(std::move(clock)) {}

  PacketPool pool_{"edges", 8191, 9280};
  std::unique_ptr<Clock> clock_;
  Engine engine_{*clock_, Engine::Config{}};
  Between* between_ = nullptr;
  Host left_;
  Host right_;
  PortRef cable_;
  uint32_t qp_ = 0;
};

// 391 packets of 1024 bytes at 10 Gb/s take 344 µs, and the acknowledgements do not hold them up.
TEST_F(VerbsEdges, AWriteIsAsFastAsItsLink) {
  build();
  write_all();
  run_on(Duration::us(400));
  expect_whole();
  ASSERT_EQ(between_->requests.size(), 391U);
  const Duration taken = between_->requests.back() - between_->requests.front();
  EXPECT_GE(taken, Duration::us(340));
  EXPECT_LE(taken, Duration::us(360));
}

TEST_F(VerbsEdges, ADeviceThatNobodyUsesSleepsUntilADoorbellWakesIt) {
  build();
  EXPECT_FALSE(left_.program->is_device_asleep());
  run_on(Duration::us(900));
  EXPECT_FALSE(left_.program->is_device_asleep());
  run_on(Duration::ms(3));
  EXPECT_TRUE(left_.program->is_device_asleep() && right_.program->is_device_asleep());
  left_.program->wake = [] {};
  write_all();
  run_on(Duration::ms(3));
  EXPECT_TRUE(between_->requests.empty()) << "it slept, and has looked all the same";
  left_.socket->wake();
  run_on(Duration::us(400));
  expect_whole();  // the right one was woken by its arrivals
  run_on(Duration::ms(3));
  EXPECT_TRUE(left_.program->is_device_asleep() && right_.program->is_device_asleep());
  write_all();
}

// Its retry timer is all that a sleeping device has.
TEST_F(VerbsEdges, ATimerWakesADeviceThatSleeps) {
  build();
  write_all();
  run_on(Duration::us(100));
  engine_.set_link(cable_, false, engine_.now());
  run_on(Duration::ms(3));
  EXPECT_TRUE(left_.program->is_device_asleep());
  engine_.set_link(cable_, true, engine_.now());
  run_on(Duration::ms(4));
  expect_whole();
}

TEST_F(VerbsEdges, APauseStopsAndReleasesItsFrames) {
  build();
  write_all();
  run_on(Duration::us(100));
  const Instant paused = engine_.now();
  between_->pause_left(0xffff, paused);
  run_on(Duration::us(500));
  // Heard after a microsecond; 802.3's response time and the frame under way are another two.
  ASSERT_FALSE(between_->requests.empty());
  EXPECT_LT(between_->requests.back() - paused, Duration::us(6));
  EXPECT_LT(between_->requests.size(), 200U);
  between_->pause_left(0, engine_.now());
  run_on(Duration::us(500));
  expect_whole();
  EXPECT_EQ(between_->requests.size(), 391U);  // none twice: the timer of 4 ms has not run out
}

// It is not held until the message has ended: its packets would be, too.
TEST_F(VerbsEdges, WhatHasArrivedOfAMessageIsInTheProgramAtTheNextPoll) {
  build();
  write_all();
  run_on(Duration::us(100));
  engine_.set_link(cable_, false, engine_.now());
  run_on(Duration::us(6));
  const size_t arrived = between_->requests.size() * 1024;
  ASSERT_GT(arrived, 50'000U);
  EXPECT_TRUE(
      std::equal(left_.bytes.begin(), left_.bytes.begin() + static_cast<ptrdiff_t>(arrived), right_.bytes.begin()));
  EXPECT_EQ(pool_.in_use(), left_.edge->waiting_packets());
  engine_.set_link(cable_, true, engine_.now());
  run_on(Duration::ms(6));
  expect_whole();
}

TEST_F(VerbsEdges, ACutLosesFramesAndTheirRetriesFindTheCableAgain) {
  build();
  write_all();
  run_on(Duration::us(100));
  engine_.set_link(cable_, false, engine_.now());
  run_on(Duration::ms(6));
  EXPECT_TRUE(left_.program->all_completions().empty());
  engine_.set_link(cable_, true, engine_.now());
  run_on(Duration::ms(10));
  expect_whole();
  EXPECT_GT(left_.edge->statistics().at("retransmitted_pkts"), 0U);
  EXPECT_GE(left_.edge->statistics().at("completer_retry_err"), 1U);
  for (const uint32_t type : {IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ACTIVE}) {
    const auto event = left_.program->heard<AsyncEvent>();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->type, type);
  }
}

TEST_F(VerbsEdges, WithDcqcnItsFramesCanBeMarkedAndTheMarksSlowItDown) {
  NicParameters parameters;
  parameters.congestion_control = ReactionParameters::paper();
  build(parameters);
  between_->marks = 40;
  write_all();
  run_on(Duration::ms(50));
  expect_whole();
  EXPECT_EQ(between_->marks, 0U);
  EXPECT_GT(right_.edge->nic_counters().np_cnp_sent, 0U);
  EXPECT_EQ(left_.edge->nic_counters().rp_cnp_handled, right_.edge->nic_counters().np_cnp_sent);
  EXPECT_GT(between_->requests.back() - between_->requests.front(), Duration::us(380));  // 344 at the link's rate
}

// At the lowest rate 256 packets need longer than a timeout, and the peer has nothing to acknowledge meanwhile: the
// timer begins when a packet leaves the NIC.
TEST_F(VerbsEdges, WithEveryPacketMarkedNoTimerRunsOut) {
  NicParameters parameters;
  parameters.congestion_control = ReactionParameters::paper();
  build(parameters);
  between_->marks = UINT64_MAX;
  write_all();
  uint64_t kept_max = 0;
  for (int i = 0; i < 600 && between_->requests.size() < 391; ++i) {
    run_on(Duration::ms(1));
    kept_max = std::max(kept_max, left_.edge->kept_packets());
  }
  run_on(Duration::ms(1));
  expect_whole();
  EXPECT_EQ(between_->requests.size(), 391U);
  EXPECT_GT(between_->requests.back() - between_->requests.front(), Duration::ms(30));
  EXPECT_EQ(left_.edge->statistics().at("completer_retry_err"), 0U);
  EXPECT_GT(kept_max, QueuePair::kInNicLimit / 2);
  EXPECT_LE(kept_max, QueuePair::kInNicLimit);
}

TEST_F(VerbsEdges, WithoutDcqcnItsFramesAreNotToBeMarked) {
  build();
  between_->marks = 40;
  write_all();
  run_on(Duration::us(400));
  expect_whole();
  EXPECT_EQ(between_->marks, 40U);
}

// On the wall clock, whose worker sleeps as long as the device does: doorbells that are rung about when it falls
// asleep. One that nobody hears would never be heard.
class VerbsEdgesOnTheWallClock : public VerbsEdges {
 protected:
  VerbsEdgesOnTheWallClock()
      : VerbsEdges(std::make_unique<WallClock>(WallClock::Config{.max_wait = Duration::s(3600)})) {}
};

TEST_F(VerbsEdgesOnTheWallClock, NoDoorbellIsLostWhenTheDeviceFallsAsleep) {
  constexpr uint32_t kDoorbells = 300;
  build();
  std::jthread fabric{[this] { engine_.run(Instant::never()); }};
  Rng rng{11, 0};
  uint32_t slept = 0;
  for (uint32_t i = 0; i < kDoorbells; ++i) {
    while (i % 2 == 0 && !left_.program->is_device_asleep()) std::this_thread::yield();
    for (uint64_t spins = rng.below(i % 2 == 0 ? 300 : 60'000); spins > 0; --spins) asm volatile("pause");
    slept += left_.program->is_device_asleep() ? 1 : 0;
    write_all();
    while (!left_.program->poll()) std::this_thread::yield();
  }
  engine_.stop();
  left_.socket->wake();
  fabric.join();
  EXPECT_GE(slept, kDoorbells / 2);
  EXPECT_LT(slept, kDoorbells);
}

}  // namespace
}  // namespace softspine::testbeds
