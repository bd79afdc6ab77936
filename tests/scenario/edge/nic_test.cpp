// SPDX-License-Identifier: Apache-2.0
// The NIC before a file, in virtual time: pauses, pace and pauses of its own, to the picosecond.
// Reference for times: a frame of b bytes lasts (max(b, 60) + 24) × 8 / rate; a quantum is 512 bits; at 100 Gb/s a
// station has 394 quanta to obey.
#include "dataplane/edge/nic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/edge/pcap_edge.hpp"
#include "dataplane/engine/engine.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/edge/nic_frames.hpp"
#include "tests/scenario/edge/probe_node.hpp"
#include "tests/scenario/edge/reference_capture.hpp"

namespace softspine::dataplane {
namespace {

constexpr Duration kDelay = Duration::ns(500);
constexpr Duration kQuantum = Duration::ps(5'120);
constexpr Duration kResponse = kQuantum * 394;
constexpr uint8_t kLossless = 0x18;
const tests::Mac kPeer = tests::station(7);
const tests::Mac kOwn = tests::station(1);

Duration lasts(uint64_t bytes, int64_t ps_per_byte = 80) {
  return Duration::ps(static_cast<int64_t>((std::max<uint64_t>(bytes, 60) + 24)) * ps_per_byte);
}

NicConfig lossless_nic(uint8_t pfc_enable = kLossless) {
  NicConfig config{.mac = kOwn, .pfc_enable = pfc_enable};
  config.priority_of_dscp.fill(1);
  config.priority_of_dscp[3] = 3;
  config.priority_of_dscp[4] = 4;
  return config;
}

struct Seen {
  Instant began;
  Bytes frame;
};

// What a capture says of each pause that the NIC sends: the first word or two.
class Remarks final : public Tap {
 public:
  void frame(Direction, const Packet&, Instant, const char* comment) noexcept override {
    if (comment == nullptr) return;
    const std::string text = comment;
    said.push_back(text.substr(0, text.find(':')));
  }
  std::vector<std::string> said;
};

class NicTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { start_eal({.memory_mib = 256}); }
  void SetUp() override {
    static int serial = 0;
    pool = std::make_unique<PacketPool>("nic_pool" + std::to_string(serial++), 4095, kMaxFrameBytes);
  }
  void TearDown() override { EXPECT_EQ(pool->in_use(), 0U); }

  void file_frame(int64_t at_ns, const Bytes& frame) {
    file.push_back({at_ns, frame, static_cast<uint32_t>(frame.size())});
  }
  // The peer's first bit leaves at `at`; returns when the last one has arrived.
  Instant peer_sends(Instant at, const Bytes& frame) {
    const Instant start = std::max(at, peer_free);
    peer_free = start + lasts(frame.size());
    to_nic.emplace_back(start, frame);
    return peer_free + kDelay;
  }
  // Everything until nothing is left to happen, or until `end`.
  void play(const NicConfig& config, Instant end = Instant::never()) {
    const std::string out = files.path();
    PcapEdge::Config edge_config{.write_path = out, .zero_ns = 0};
    if (!file.empty()) edge_config.read_path = files.with(pcap_bytes(file));
    auto edge = PcapEdge::open("edge", edge_config, *pool, config);
    ASSERT_TRUE(edge) << edge.error().message;
    auto probe = std::make_unique<Probe>(*pool);
    for (const auto& [at, frame] : to_nic) probe->send_at(at, frame);
    VirtualClock clock;
    Engine engine{clock, Engine::Config{}};
    const Probe& peer = *probe;
    const PcapEdge& nic = **edge;
    const PortRef a{engine.add(std::move(*edge), 0), PortNo{0}};
    const PortRef b{engine.add(std::move(probe), 0), PortNo{0}};
    engine.connect(a, b, Rate::gbps(100), kDelay);
    engine.node(a.node).transmitter(PortNo{0}).set_tap(&remarks);
    engine.run(end);
    engine.drain();
    for (const Probe::Arrival& it : peer.arrivals()) {
      seen.push_back({it.at - kDelay - lasts(it.frame_bytes), it.bytes});
    }
    counters = nic.counters();
    nic_counters = nic.nic_counters();
    for (uint8_t p = 0; p < kPriorities; ++p) {
      pfc_rx[p] = nic.flow_control().pfc_rx_frames(Priority{p});
      pfc_tx[p] = nic.flow_control().pfc_tx_frames(Priority{p});
    }
    on_to_off = nic.flow_control().pauses().on_to_off(Priority{3});
    stopped = nic.flow_control().pauses().stopped_time(Priority{3}, engine.now());
    written = parse_pcap(TemporaryFiles::content(out));
  }

  TemporaryFiles files;
  std::unique_ptr<PacketPool> pool;
  std::vector<CapturedFrame> file;
  std::vector<std::pair<Instant, Bytes>> to_nic;
  Instant peer_free;
  std::vector<Seen> seen;  // by the peer
  Remarks remarks;
  std::vector<CapturedFrame> written;
  EdgeCounters counters;
  NicCounters nic_counters;
  std::array<uint64_t, kPriorities> pfc_rx{};
  std::array<uint64_t, kPriorities> pfc_tx{};
  uint64_t on_to_off = 0;
  Duration stopped;  // priority 3
};

// Its interface is gone as soon as somebody looks.
class DeletedOutside final : public Nic {
 public:
  explicit DeletedOutside(PacketPool& pool) : Nic("edge", dataplane::lossless_nic(), pool) {}
  Instant run(Instant) noexcept override { return Instant::never(); }
  void drain() noexcept override { end_waiting(); }
  void look_outside(Instant now) noexcept override { lose_outside({"tap0", kInterfaceDeleted}, now); }
};

TEST_F(NicTest, AnInterfaceThatIsDeletedIsOneFaultSinceItWasFirstMissed) {
  DeletedOutside edge{*pool};
  EXPECT_FALSE(edge.outside_is_gone());
  edge.look_outside(Instant::at(Duration::us(3)));
  edge.look_outside(Instant::at(Duration::us(4)));
  EXPECT_TRUE(edge.outside_is_gone());
  ASSERT_EQ(edge.faults().size(), 1u);
  EXPECT_EQ(edge.faults()[0].error.where, "tap0");
  EXPECT_EQ(edge.faults()[0].error.message, "the interface was deleted");
  EXPECT_EQ(edge.faults()[0].at, Instant::at(Duration::us(3)));
}

TEST_F(NicTest, ObeysAPauseAfterItsResponseAndGoesOnWhenItIsOverWithoutLoss) {
  constexpr uint16_t kFrames = 300;
  for (uint16_t i = 0; i < kFrames; ++i) file_frame(0, numbered_ip_frame(3, i));
  const Instant heard = peer_sends(Instant::at(Duration::us(5)), pfc_frame(kPeer, 0x08, 1000));
  play(lossless_nic());
  ASSERT_EQ(seen.size(), kFrames);
  const Instant stop = heard + kResponse;
  const Instant until = heard + kQuantum * 1000;
  size_t first_after = 0;
  for (size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(number_in(seen[i].frame), i);
    EXPECT_FALSE(seen[i].began >= stop && seen[i].began < until) << i;
    if (seen[i].began < stop) first_after = i + 1;
  }
  ASSERT_LT(first_after, seen.size());
  EXPECT_GE(seen[first_after - 1].began + lasts(1500), stop);  // it went on as long as it might
  EXPECT_EQ(seen[first_after].began, until);
  EXPECT_EQ(pfc_rx[3], 1U);
  EXPECT_EQ(on_to_off, 1U);
  EXPECT_EQ(counters.in_packets, kFrames);
  EXPECT_EQ(counters.out_drops[static_cast<size_t>(DropReason::kPfcConsumed)], 1U);
  EXPECT_TRUE(written.empty());
}

// Behind a device stands a real adapter: the switch's pauses are for it, its own are for the switch.
TEST_F(NicTest, RelaysPausesBothWaysToTheByteAndObeysNone) {
  for (uint16_t i = 0; i < 100; ++i) file_frame(0, numbered_ip_frame(3, i));
  const Bytes of_host = pfc_frame(kOwn, 0x08, 0x1234);
  const Bytes of_switch = pfc_frame(kPeer, 0x18, 0xffff);
  file_frame(0, of_host);
  peer_sends(Instant{}, of_switch);
  NicConfig config = lossless_nic(0);
  config.parameters.relay_pfc = true;
  play(config);
  ASSERT_EQ(seen.size(), 101U);
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(seen[i].began, Instant{} + lasts(1500) * static_cast<int64_t>(i)) << i;
  EXPECT_EQ(seen[100].frame, of_host) << "behind what the host had sent before it";
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(Bytes(written[0].bytes.begin(), written[0].bytes.end()), of_switch);
  EXPECT_EQ(pfc_rx[3], 1U);
  EXPECT_EQ(counters.out_packets, 1U);
  EXPECT_EQ(on_to_off, 0U);
}

TEST_F(NicTest, GoesOnAtTheLastBitOfAnXon) {
  for (uint16_t i = 0; i < 300; ++i) file_frame(0, numbered_ip_frame(3, i));
  peer_sends(Instant::at(Duration::us(5)), pfc_frame(kPeer, 0x08, 0xffff));
  const Instant xon = peer_sends(Instant::at(Duration::us(40)), pfc_frame(kPeer, 0x08, 0));
  play(lossless_nic());
  ASSERT_EQ(seen.size(), 300U);
  EXPECT_EQ(std::ranges::count_if(seen, [&](const Seen& it) { return it.began == xon; }), 1);
  EXPECT_FALSE(std::ranges::any_of(
      seen, [&](const Seen& it) { return it.began > Instant::at(Duration::us(8)) && it.began < xon; }));
}

TEST_F(NicTest, CountsPausesThatItWasNotToldToObey) {
  for (uint16_t i = 0; i < 300; ++i) file_frame(0, numbered_ip_frame(3, i));
  peer_sends(Instant{}, pfc_frame(kPeer, 0xff, 0xffff));
  play(lossless_nic(0x10));
  ASSERT_EQ(seen.size(), 300U);
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i].began, Instant{} + lasts(1500) * static_cast<int64_t>(i));
  EXPECT_EQ(pfc_rx[3], 1U);
  EXPECT_EQ(on_to_off, 0U);
}

TEST_F(NicTest, EndsMacControlThatItDoesNotKnow) {
  peer_sends(Instant{}, tests::padded(tests::ethernet_frame({0x01, 0x80, 0xc2, 0, 0, 1}, kPeer, 0x8808, {0x77, 0x77})));
  play(lossless_nic());
  EXPECT_EQ(counters.out_drops[static_cast<size_t>(DropReason::kUnknownMacControl)], 1U);
  EXPECT_TRUE(written.empty());
}

// A file has one frame waiting at a time: each begins at the first instant at which it may, no sooner and no later.
TEST_F(NicTest, BeginsEachFrameWhenASlowReadingOfTheStandardLetsIt) {
  constexpr std::array<uint8_t, 3> kDscp{3, 4, 0};
  const uint64_t seed = tests::seed();
  Rng rng{seed, 0};
  std::array<SlowPause, 8> pauses{SlowPause{kQuantum, kResponse}, {kQuantum, kResponse}, {kQuantum, kResponse},
                                  {kQuantum, kResponse},          {kQuantum, kResponse}, {kQuantum, kResponse},
                                  {kQuantum, kResponse},          {kQuantum, kResponse}};
  Instant at;
  for (int i = 0; i < 400; ++i) {
    at = at + Duration::ns(static_cast<int64_t>(rng.below(5'000)));
    std::array<uint16_t, 8> times{};
    for (uint16_t& time : times) time = static_cast<uint16_t>(rng.below(3) == 0 ? 0 : rng.below(2'000));
    const auto enable = static_cast<uint8_t>(rng.below(256));
    const Instant heard = peer_sends(at, pfc_frame(kPeer, enable, times));
    for (uint32_t p = 0; p < 8; ++p) {
      if ((enable & kLossless) >> p & 1) pauses[p].hear(heard, times[p]);
    }
  }
  int64_t recorded = 0;
  for (uint16_t i = 0; i < 3000; ++i) {
    recorded += static_cast<int64_t>(rng.below(600));
    file_frame(recorded, numbered_ip_frame(kDscp[rng.below(3)], i, 60 + static_cast<uint32_t>(rng.below(1441))));
  }
  play(lossless_nic());
  ASSERT_EQ(seen.size(), file.size()) << "seed " << seed;
  Instant free;
  for (size_t i = 0; i < file.size(); ++i) {
    const uint8_t dscp = file[i].bytes[15] >> 2;
    const Instant ready = std::max(free, Instant::at(Duration::ns(file[i].at_ns)));
    const Instant expected = dscp == 0 ? ready : pauses[dscp].first_free(ready);
    ASSERT_EQ(seen[i].began, expected) << "frame " << i << ", DSCP " << int{dscp} << ", seed " << seed;
    ASSERT_EQ(seen[i].frame, file[i].bytes);
    free = expected + lasts(file[i].length);
  }
}

// From the end of the last frame that had begun, whatever the host's own rate makes of its next one.
TEST_F(NicTest, StandsStillWhenItsFrameIsOut) {
  for (const Rate own : {Rate{}, Rate::gbps(10)}) {
    file.clear();
    seen.clear();
    to_nic.clear();
    peer_free = {};
    for (uint16_t i = 0; i < 100; ++i) file_frame(0, numbered_ip_frame(3, i, 1500));
    const Instant heard = peer_sends(Instant{} + Duration::us(3), pfc_frame(kPeer, 1 << 3, 4'000));
    NicConfig config = lossless_nic();
    config.parameters.rate = own;
    play(config);
    const Instant stop = heard + kResponse;
    const Instant until = heard + kQuantum * 4'000;
    Instant left;
    for (const Seen& frame : seen) {
      if (frame.began < until) left = frame.began + lasts(1500);
    }
    EXPECT_LT(left, until);
    EXPECT_EQ(stopped, until - std::max(stop, left)) << own.is_zero();
  }
}

TEST_F(NicTest, PacesBothWaysAtItsOwnRateIfThatIsLess) {
  for (uint16_t i = 0; i < 20; ++i) file_frame(0, numbered_ip_frame(0, i));
  for (uint16_t i = 0; i < 20; ++i) peer_sends(Instant{}, numbered_ip_frame(0, i));
  NicConfig config = lossless_nic(0);
  config.parameters.rate = Rate::gbps(10);
  play(config);
  ASSERT_EQ(seen.size(), 20U);
  ASSERT_EQ(written.size(), 20U);
  const Instant arrived = Instant{} + lasts(1500) + kDelay;
  for (int64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(seen[static_cast<size_t>(i)].began, Instant{} + lasts(1500, 800) * i);
    EXPECT_EQ(written[static_cast<size_t>(i)].at_ns, (arrived + lasts(1500, 800) * (i + 1)).count_ps() / 1000);
  }
}

// 400 frames at 100 Gb/s for a host that takes 10: what waits is what has come less what it has taken.
TEST_F(NicTest, SaysXoffWhenTooMuchWaitsRepeatsItInTimeAndXonWhenItHasCaughtUp) {
  constexpr uint32_t kFrames = 400;
  for (uint16_t i = 0; i < kFrames; ++i) peer_sends(Instant{}, numbered_ip_frame(3, i));
  NicConfig config = lossless_nic();
  config.parameters.rate = Rate::gbps(10);
  play(config);
  ASSERT_EQ(written.size(), kFrames);
  ASSERT_GE(seen.size(), 3U);
  uint64_t taken = 0;
  Instant first_too_much;
  for (int64_t i = 1; i <= kFrames; ++i) {
    const Instant arrived = Instant{} + kDelay + lasts(1500) * i;
    while (Instant{} + kDelay + lasts(1500) + lasts(1500, 800) * static_cast<int64_t>(taken + 1) <= arrived) ++taken;
    if ((static_cast<uint64_t>(i) - taken) * 1500 > config.xoff_bytes && first_too_much == Instant{})
      first_too_much = arrived;
  }
  EXPECT_EQ(seen[0].began, first_too_much);
  for (size_t i = 0; i + 1 < seen.size(); ++i) {
    EXPECT_EQ(seen[i].frame, pfc_frame(kOwn, kLossless, 0xffff));
    EXPECT_LT(seen[i + 1].began - seen[i].began, kQuantum * 0xffff - Duration::us(1)) << "the pause lapsed";
  }
  EXPECT_EQ(seen.back().frame, pfc_frame(kOwn, kLossless, 0));
  std::vector<std::string> wanted(seen.size(), "XOFF again");
  wanted.front() = "XOFF";
  wanted.back() = "XON";
  EXPECT_EQ(remarks.said, wanted);
  // The xon-th byte from the end has just been taken.
  const int64_t left = config.xon_bytes / 1500;
  EXPECT_EQ(seen.back().began, Instant{} + kDelay + lasts(1500) + lasts(1500, 800) * (kFrames - left));
  EXPECT_EQ(pfc_tx[3], seen.size());
  EXPECT_EQ(pfc_tx[1], 0U);
  EXPECT_EQ(nic_counters.made_packets, seen.size());
  EXPECT_EQ(std::accumulate(counters.out_drops.begin(), counters.out_drops.end(), uint64_t{0}), 0U);
}

TEST_F(NicTest, KeepsWhatIsBehindItsXoffForLosslessFrames) {
  NicConfig config = lossless_nic();
  config.parameters.rate = Rate::gbps(10);
  config.xoff_bytes = 15'000;
  config.xon_bytes = 10'000;
  config.hold_bytes = 60'000;
  for (uint16_t i = 0; i < 60; ++i) peer_sends(Instant{}, numbered_ip_frame(i % 2 == 0 ? 3 : 0, i));
  play(config);
  const uint64_t ended = counters.out_drops[static_cast<size_t>(DropReason::kEdgeFull)];
  EXPECT_EQ(written.size() + ended, 60U);
  EXPECT_GT(ended, 15U);
  for (uint16_t i = 0; i < 60; i += 2) {
    EXPECT_TRUE(std::ranges::any_of(written, [&](const CapturedFrame& it) { return number_in(it.bytes) == i; })) << i;
  }
}

TEST_F(NicTest, DropsLosslessFramesOnlyBeyondAllThatItMayHold) {
  NicConfig config = lossless_nic();
  config.parameters.rate = Rate::gbps(10);
  config.xoff_bytes = 15'000;
  config.xon_bytes = 10'000;
  config.hold_bytes = 30'000;
  for (uint16_t i = 0; i < 60; ++i) peer_sends(Instant{}, numbered_ip_frame(3, i));
  play(config);
  EXPECT_EQ(counters.held_bytes_max, 30'000U);
  EXPECT_GT(counters.out_drops[static_cast<size_t>(DropReason::kEdgeFull)], 20U);
  EXPECT_EQ(written.size() + counters.out_drops[static_cast<size_t>(DropReason::kEdgeFull)], 60U);
}

TEST_F(NicTest, HoldsWhatItHasTakenUntilTheEndIfAPauseOutlastsTheRun) {
  for (uint16_t i = 0; i < 5; ++i) file_frame(10'000, numbered_ip_frame(3, i));
  peer_sends(Instant{}, pfc_frame(kPeer, 0x08, 0xffff));
  play(lossless_nic(), Instant::at(Duration::us(100)));
  EXPECT_TRUE(seen.empty());
  EXPECT_EQ(counters.in_packets, 0U);
  EXPECT_EQ(counters.in_drops[static_cast<size_t>(DropReason::kLinkDown)], 1U);  // the file keeps the others
}

}  // namespace
}  // namespace softspine::dataplane
