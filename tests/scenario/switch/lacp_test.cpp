// SPDX-License-Identifier: Apache-2.0
// LACP at a switch: LACPDUs go out and end there by the clock of the switch, and partners that talk nonsense break
// nothing.
#include <array>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;
using Tor = Bench<pipelines::Tor>;

constexpr uint8_t kFast = lacp::kActive | lacp::kShortTimeout | lacp::kAggregation;
constexpr uint8_t kInStep = kFast | lacp::kSynchronization;
constexpr LacpEnd kTorEnd{.system_priority = 32'768,
                          .system = {0x00, 0x00, 0x5e, 0x00, 0x01, 0x01},
                          .key = 1,
                          .port_priority = 32'768,
                          .port = 1025,
                          .state = kFast};
constexpr LacpEnd kHostEnd{.system_priority = 65'535,
                           .system = {0x02, 0, 0, 0, 0, 0x01},
                           .key = 15,
                           .port_priority = 255,
                           .port = 1,
                           .state = kFast};

Bytes frame_of(const LacpEnd& actor, const LacpEnd& partner) {
  std::array<uint8_t, kLacpFrameBytes> frame;
  write_lacpdu({.actor = actor, .partner = partner}, kHostEnd.system, frame);
  return {frame.begin(), frame.end()};
}

LacpEnd with_state(LacpEnd end, uint8_t state) {
  end.state = state;
  return end;
}

void start_lacp(Tor& bench) {
  bench.node().run_lacp(PortNo{0}, {.actor = kTorEnd});
  bench.engine().wake(bench.node().id(), bench.engine().now());
}

bool is_distributing(Tor& bench) {
  return bench.node().lacp().find(PortNo{0})->is_distributing();
}

TEST(SwitchLacp, SendsFromTheStartAndAgreesTwoSecondsAfterItsPartnersFirstLacpdu) {
  Tor bench;
  start_lacp(bench);
  bench.run_for(Duration::ms(1));
  ASSERT_EQ(bench.arrivals(0).size(), 1u);
  EXPECT_EQ(bench.arrivals(0)[0].frame_bytes, 124u);
  EXPECT_EQ(load_mac(&bench.arrivals(0)[0].bytes[ethernet::kSource]), kRouter);
  for (int i = 0; i < 5; ++i) {
    bench.send(0, frame_of(with_state(kHostEnd, kInStep), with_state(kTorEnd, kInStep)));
    EXPECT_EQ(is_distributing(bench), i > 2) << i;
    bench.run_for(Duration::s(1));
  }
  const auto last = read_lacpdu(bench.arrivals(0).back().bytes);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->actor, with_state(kTorEnd, 0x3f));
  EXPECT_EQ(last->partner, with_state(kHostEnd, kInStep));
  for (uint16_t port = 1; port < kBenchPorts; ++port) EXPECT_TRUE(bench.arrivals(port).empty()) << port;
  EXPECT_EQ(bench.drops(), (Drops{{"consumed", 5}}));
}

TEST(SwitchLacp, StopsWithItsLinkAndBeginsAgainWithIt) {
  Tor bench;
  start_lacp(bench);
  const auto talk = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      bench.send(0, frame_of(with_state(kHostEnd, kInStep), with_state(kTorEnd, kInStep)));
      bench.run_for(Duration::s(1));
    }
  };
  talk(4);
  ASSERT_TRUE(is_distributing(bench));
  bench.set_link(0, false);
  EXPECT_FALSE(is_distributing(bench));
  const size_t before = bench.arrivals(0).size();
  bench.run_for(Duration::s(100));
  EXPECT_EQ(bench.arrivals(0).size(), before);
  bench.set_link(0, true);
  talk(4);
  EXPECT_TRUE(is_distributing(bench));
}

TEST(SwitchLacp, EndsLacpdusWhereNobodyAskedForThem) {
  Tor bench;
  for (const uint16_t port : {uint16_t{0}, uint16_t{2}, uint16_t{4}}) {
    EXPECT_EQ(bench.exchange(port, frame_of(kHostEnd, {})), Frames{});
  }
  EXPECT_EQ(bench.drops(), (Drops{{"unsupported", 3}}));
}

// Random bytes behind the type, random versions and TLVs, keys that change with each frame, and our own frames back.
TEST(SwitchLacp, OutlivesPartnersThatTalkNonsense) {
  Tor bench;
  start_lacp(bench);
  Rng rng{seed(), 7};
  for (int i = 0; i < 5000; ++i) {
    LacpEnd changing = kHostEnd;
    changing.key = static_cast<uint16_t>(i);
    Bytes frame = frame_of(rng.below(4) == 0 ? kTorEnd : changing, kTorEnd);
    for (uint64_t bytes = rng.below(20); bytes > 0; --bytes) {
      frame[14 + rng.below(frame.size() - 14)] = static_cast<uint8_t>(rng.next());
    }
    if (rng.below(4) == 0) frame.resize(60 + rng.below(64));
    bench.send(0, frame);
    bench.run_for(Duration::us(static_cast<int64_t>(rng.below(200'000))));
    EXPECT_FALSE(is_distributing(bench)) << i;
  }
  const LacpCounters& counters = bench.node().lacp().find(PortNo{0})->counters();
  EXPECT_EQ(counters.received + counters.faulty, 5000u);
  EXPECT_GT(counters.faulty, 500u);
  EXPECT_GT(counters.loops, 500u);
  EXPECT_GT(counters.partner_changes, 500u);
  EXPECT_GT(counters.other_versions, 100u);
  EXPECT_EQ(counters.sent, bench.arrivals(0).size());
}

}  // namespace
}  // namespace softspine::tests
