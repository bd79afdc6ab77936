// SPDX-License-Identifier: Apache-2.0
// The time that a host's adapter takes from a marked packet to its CNP.
#include "tests/scenario/hosts/reliable_frames.hpp"

namespace softspine::testbeds {
namespace {

SinkConfig sink_with_delay(int64_t microseconds) {
  SinkConfig sink = reliable_sink();
  sink.nic_delay = Duration::us(microseconds);
  return sink;
}

// Without a delay the first would leave as soon as the packet is there; the acknowledgement does.
TEST(NicDelay, ACnpLeavesTheNicsDelayAfterTheMarkedPacket) {
  HostAndPuppet pair;
  pair.host().add_sink(sink_with_delay(7));
  for (uint32_t n = 0; n < 64; ++n) pair.puppet().say(us(2 * n), request(n, ip::kCe));
  pair.run();
  std::vector<Instant> cnps;
  for (const Heard& heard : pair.puppet().heard()) {
    if (heard.opcode() == bth::kCnp) cnps.push_back(heard.started);
  }
  // Marked at 0, 2 … 126 us. The interval of 50 us counts from arrival to arrival, so the delay shifts all alike. The
  // first of a message has a RETH and so arrives later than it begins by more than the others: 50 us behind it is 26.
  const auto arrival = [&](uint32_t n) { return pair.arrival(us(2 * n), static_cast<uint32_t>(request(n).size())); };
  const Duration delay = Duration::us(7);
  EXPECT_EQ(cnps, (std::vector{arrival(0) + delay, arrival(26) + delay, arrival(51) + delay}));
  EXPECT_EQ(pair.host().received(0).reliable.np_cnp_sent, 3u);
  EXPECT_EQ(pair.host().counters().answers_sent, 3u + pair.host().received(0).reliable.acks_sent);
}

// Two queue pairs of one host: the one that has less delay goes first, though its packet came later.
TEST(NicDelay, CnpsLeaveInTheOrderInWhichTheyAreReady) {
  HostAndPuppet pair;
  pair.host().add_sink(sink_with_delay(40));
  SinkConfig fast = sink_with_delay(5);
  fast.id = 1;
  fast.qp = 201;
  fast.source_qp = 301;
  pair.host().add_sink(fast);
  pair.puppet().say(us(0), request(0, ip::kCe));
  pair.puppet().say(us(10), request(0, ip::kCe, 26, 201));
  pair.run();
  std::vector<std::pair<uint32_t, Instant>> cnps;
  for (const Heard& heard : pair.puppet().heard()) {
    if (heard.opcode() == bth::kCnp) cnps.emplace_back(load24(heard.bth() + bth::kDestinationQp), heard.started);
  }
  const auto bytes = static_cast<uint32_t>(request(0).size());
  EXPECT_EQ(cnps, (std::vector<std::pair<uint32_t, Instant>>{{301, pair.arrival(us(15), bytes)},
                                                             {300, pair.arrival(us(40), bytes)}}));
}

TEST(NicDelay, ACnpOfAPausedPriorityWaitsBehindTheDelay) {
  HostAndPuppet pair;
  pair.host().add_sink(sink_with_delay(10));
  pair.puppet().say(us(0), pfc_frame(0x40, 0xffff));
  pair.puppet().say(us(20), request(0, ip::kCe));
  pair.puppet().say(us(60), pfc_frame(0x40, 0));
  pair.run(us(100));
  ASSERT_EQ(pair.puppet().heard().size(), 1u);
  EXPECT_EQ(pair.puppet().heard()[0].started, pair.arrival(us(60), 60));
}

// What is not ready when the run ends goes back to the pool, which HostAndPuppet sees to.
TEST(NicDelay, ACnpThatIsNotReadyAtTheEndIsNotSent) {
  HostAndPuppet pair;
  pair.host().add_sink(sink_with_delay(1'000));
  pair.puppet().say(us(0), request(0, ip::kCe));
  pair.run(us(100));
  EXPECT_TRUE(pair.puppet().heard().empty());
  EXPECT_EQ(pair.host().counters().answers_sent, 0u);
}

}  // namespace
}  // namespace softspine::testbeds
