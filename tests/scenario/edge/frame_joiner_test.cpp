// SPDX-License-Identifier: Apache-2.0
// Segments that are joined for the kernel, and cut again by FrameCutter: the bytes must be those that came.
#include "dataplane/edge/frame_joiner.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/edge/frame_cutter.hpp"
#include "dataplane/packet/pool.hpp"
#include "tests/scenario/edge/tcp_frames.hpp"

namespace softspine::dataplane {
namespace {

using namespace tests;

constexpr size_t kMost = 1'448;

class Joining : public testing::Test {
 protected:
  static void SetUpTestSuite() { start_eal({.memory_mib = 256}); }
  void SetUp() override {
    static int serial = 0;
    pool = std::make_unique<PacketPool>("joiner" + std::to_string(serial++), 511, kMaxFrameBytes);
  }
  void TearDown() override {
    joiner.close_all();
    take_closed();
    EXPECT_EQ(joiner.frames(), 0u);
    EXPECT_EQ(pool->in_use(), 0u);
  }
  // What the kernel is given, in order, each cut again.
  void give(const Bytes& frame, Instant now = {}) {
    Packet packet = pool->make(static_cast<uint32_t>(frame.size()));
    std::ranges::copy(frame, packet.data());
    const bool is_held = joiner.take(packet, now);
    take_closed();
    if (is_held) return;
    given.push_back({{packet.data(), packet.data() + packet.stored_bytes()}});
    PacketPool::release(std::move(packet));
  }
  void give(const TcpFrame& frame, Instant now = {}) { give(tcp_frame(frame), now); }
  void close_due(Instant now) {
    joiner.close_due(now);
    take_closed();
  }
  void take_closed() {
    while (FrameRun* const run = joiner.next_closed()) {
      FrameRun::ForKernel kernel;
      run->write(kernel);
      Bytes super;
      for (int i = 1; i < kernel.count; ++i) {
        const auto* const part = static_cast<const uint8_t*>(kernel.parts[static_cast<size_t>(i)].iov_base);
        super.insert(super.end(), part, part + kernel.parts[static_cast<size_t>(i)].iov_len);
      }
      given.push_back(cut(kernel.header, super));
      for (uint32_t i = 0; i < run->frames(); ++i) PacketPool::release(run->take_frame(i));
      joiner.reuse(*run);
    }
  }
  static std::vector<Bytes> cut(const VirtioHeader& header, const Bytes& super) {
    if (header.segments == VirtioHeader::kWhole) return {super};
    FrameCutter cutter;
    EXPECT_TRUE(cutter.begin(header, super.data(), static_cast<uint32_t>(super.size())));
    std::vector<Bytes> frames;
    while (cutter.has_more()) cutter.cut(frames.emplace_back(cutter.next_bytes()).data());
    return frames;
  }
  // How many frames each call to the kernel had.
  std::vector<size_t> sizes() const {
    std::vector<size_t> all;
    for (const auto& one : given) all.push_back(one.size());
    return all;
  }
  std::vector<Bytes> frames() const {
    std::vector<Bytes> all;
    for (const auto& one : given) all.insert(all.end(), one.begin(), one.end());
    return all;
  }
  using Sizes = std::vector<size_t>;

  std::unique_ptr<PacketPool> pool;
  FrameJoiner joiner{{}};
  std::vector<std::vector<Bytes>> given;
};

TEST_F(Joining, GivesTheKernelOneSuperFrameThatIsCutIntoTheSameFrames) {
  for (const bool is_ipv6 : {false, true}) {
    for (const std::optional<uint16_t> tag : {std::optional<uint16_t>{}, std::optional<uint16_t>{0x6064}}) {
      given.clear();
      const TcpFrame whole{.is_ipv6 = is_ipv6,
                           .tag = tag,
                           .sequence = 0xfffffff0,
                           .flags = kAck | kPush,
                           .id = 0xfff0,
                           .payload = mixed(40'001)};
      std::vector<Bytes> sent;
      for (const TcpFrame& one : segments_of(whole, kMost)) sent.push_back(tcp_frame(one));
      for (const Bytes& frame : sent) give(frame);
      EXPECT_EQ(sizes(), Sizes{28});
      EXPECT_EQ(frames(), sent);
    }
  }
}

TEST_F(Joining, StaysBelow64KiB) {
  std::vector<Bytes> sent;
  for (const TcpFrame& one : segments_of({.payload = mixed(200'000)}, kMost)) sent.push_back(tcp_frame(one));
  for (const Bytes& frame : sent) give(frame);
  joiner.close_all();
  take_closed();
  EXPECT_EQ(frames(), sent);
  EXPECT_EQ(sizes(), (Sizes{45, 45, 45, 4}));
}

// Everything that is not joined, with a run before and after it: each of these ends the run of its flow.
TEST_F(Joining, EndsARunBeforeASegmentThatDoesNotFollow) {
  const std::vector<std::function<void(TcpFrame&)>> changes = {[](TcpFrame& it) { it.sequence += 1; },
                                                               [](TcpFrame& it) { it.sequence -= 1; },
                                                               [](TcpFrame& it) { it.acknowledgement += 1; },
                                                               [](TcpFrame& it) { it.window += 1; },
                                                               [](TcpFrame& it) { it.flags |= kFin; },
                                                               [](TcpFrame& it) { it.flags |= kReduced; },
                                                               [](TcpFrame& it) { it.flags = 0x02; },
                                                               [](TcpFrame& it) { it.tos ^= 0x01; },
                                                               [](TcpFrame& it) { it.id += 1; },
                                                               [](TcpFrame& it) { it.options[7] ^= 1; },
                                                               [](TcpFrame& it) { it.options = {}; },
                                                               [](TcpFrame& it) { it.payload = mixed(kMost + 1); },
                                                               [](TcpFrame& it) { it.payload = {}; }};
  for (size_t i = 0; i < changes.size(); ++i) {
    given.clear();
    auto segments = segments_of({.id = 5, .payload = mixed(3 * kMost)}, kMost);
    changes[i](segments[2]);
    std::vector<Bytes> sent;
    for (const TcpFrame& one : segments) {
      sent.push_back(tcp_frame(one));
      give(one);
    }
    joiner.close_all();
    take_closed();
    EXPECT_EQ(sizes(), (Sizes{2, 1})) << i;
    EXPECT_EQ(frames(), sent) << i;
  }
}

TEST_F(Joining, LeavesASegmentWithABadChecksumAsItIs) {
  constexpr size_t kOfIpv4 = 24;
  constexpr size_t kOfPayload = 100;
  const auto segments = segments_of({.payload = mixed(3 * kMost)}, kMost);
  for (const size_t byte : {kOfIpv4, kOfPayload}) {
    given.clear();
    Bytes damaged = tcp_frame(segments[1]);
    damaged[byte] ^= 0x10;
    give(segments[0]);
    give(damaged);
    give(segments[2]);
    joiner.close_all();
    take_closed();
    EXPECT_EQ(sizes(), (Sizes{1, 1, 1})) << byte;
    EXPECT_EQ(frames()[1], damaged) << byte;
  }
}

TEST_F(Joining, HasNoMoreFramesThanOneCallTakes) {
  std::vector<Bytes> sent;
  for (const TcpFrame& one : segments_of({.payload = mixed(100 * 100)}, 100)) sent.push_back(tcp_frame(one));
  for (const Bytes& frame : sent) give(frame);
  joiner.close_all();
  take_closed();
  EXPECT_EQ(sizes(), (Sizes{64, 36}));
  EXPECT_EQ(frames(), sent);
}

TEST_F(Joining, EndsARunBehindAShorterSegment) {
  auto segments = segments_of({.payload = mixed(2 * kMost + 10)}, kMost);
  for (const TcpFrame& one : segments) give(one);
  EXPECT_EQ(sizes(), (Sizes{3})) << "closed at once";
  EXPECT_TRUE(joiner.due().is_never());
}

// More flows than runs: all that is held goes to the kernel, and then there is room again.
TEST_F(Joining, MakesRoomWhenEveryRunIsTaken) {
  const auto flow = [](uint16_t port) { return segments_of({.from_port = port, .payload = mixed(2 * kMost)}, kMost); };
  for (uint16_t port = 0; port < FrameJoiner::kRuns; ++port) give(flow(port)[0]);
  EXPECT_EQ(sizes(), Sizes{});
  give(flow(100)[0]);
  EXPECT_EQ(sizes(), Sizes(FrameJoiner::kRuns + 1, 1));
  for (const TcpFrame& one : flow(101)) give(one);
  joiner.close_all();
  take_closed();
  EXPECT_EQ(sizes().back(), 2u);
}

TEST_F(Joining, HoldsNothingThatAnAnswerMayWaitFor) {
  give(TcpFrame{.flags = kAck | kPush, .payload = mixed(kMost)});
  give(TcpFrame{.flags = kAck, .payload = {}});
  give(ethernet_frame(station(9), station(1), 0x0800,
                      ipv4_packet({.from = ip4("10.0.1.2"), .to = ip4("10.0.1.3")}, udp_datagram(1, 2, mixed(100)))));
  give(padded(tcp_frame(TcpFrame{.options = {}, .payload = mixed(1)})));
  give(TcpFrame{.options = {}, .payload = mixed(1)});  // the edge pads it
  EXPECT_EQ(sizes(), (Sizes{1, 1, 1, 1, 1}));
  EXPECT_TRUE(joiner.due().is_never());
}

TEST_F(Joining, WaitsForTheGapAndNoLongerThanTheLongest) {
  const auto at = [](int64_t us) { return Instant::at(Duration::us(us)); };
  const auto segments = segments_of({.payload = mixed(40 * kMost)}, kMost);
  give(segments[0], at(100));
  EXPECT_EQ(joiner.due(), at(105));
  give(segments[1], at(104));
  EXPECT_EQ(joiner.due(), at(109));
  close_due(at(108));
  EXPECT_EQ(sizes(), Sizes{});
  close_due(at(109));
  EXPECT_EQ(sizes(), Sizes{2});
  for (size_t i = 2; i < 15; ++i) give(segments[i], at(200 + 4 * static_cast<int64_t>(i - 2)));
  EXPECT_EQ(joiner.due(), at(250)) << "the longest, not 253";
  close_due(at(250));
  EXPECT_EQ(sizes(), (Sizes{2, 13}));
}

TEST_F(Joining, KeepsFlowsApartAndTheirOrder) {
  std::vector<std::vector<TcpFrame>> flows;
  for (uint16_t port = 0; port < 10; ++port) {
    flows.push_back(segments_of({.from_port = port, .flags = kAck | kPush, .payload = mixed(4 * kMost)}, kMost));
  }
  for (size_t i = 0; i < 4; ++i) {
    for (const auto& flow : flows) give(flow[i]);
  }
  joiner.close_all();
  take_closed();
  for (uint16_t port = 0; port < 10; ++port) {
    std::vector<Bytes> sent;
    for (const TcpFrame& one : flows[port]) sent.push_back(tcp_frame(one));
    std::vector<Bytes> came;
    for (const Bytes& frame : frames()) {
      if (frame[35] == port) came.push_back(frame);
    }
    EXPECT_EQ(came, sent) << port;
  }
}

}  // namespace
}  // namespace softspine::dataplane
