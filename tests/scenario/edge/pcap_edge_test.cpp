// SPDX-License-Identifier: Apache-2.0
// Files in, files out, over one link in virtual time.
// Reference for times: a frame of b bytes lasts (max(b, 60) + 24) × 8 / rate, then propagates.
#include "dataplane/edge/pcap_edge.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/engine/engine.hpp"
#include "tests/scenario/edge/drops.hpp"
#include "tests/scenario/edge/probe_node.hpp"
#include "tests/scenario/edge/reference_capture.hpp"

namespace softspine::dataplane {
namespace {

using tests::count;

constexpr int64_t kPsPerByte = 80;  // 100 Gb/s
constexpr Duration kWireDelay = Duration::ns(500);
constexpr int64_t kMonday = 1'700'000'000'000'000'000;

CapturedFrame frame_at(int64_t at_ns, uint32_t bytes, uint8_t number) {
  return {at_ns, numbered_frame(bytes, number), bytes};
}

class PcapEdgeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { start_eal({.memory_mib = 256}); }
  void SetUp() override {
    static int serial = 0;
    pool = std::make_unique<PacketPool>("pcap_pool" + std::to_string(serial++), 1023, kMaxFrameBytes);
  }
  void TearDown() override { EXPECT_EQ(pool->in_use(), 0U); }

  std::unique_ptr<PcapEdge> open(const PcapEdge::Config& config) {
    auto edge = PcapEdge::open("edge", config, *pool);
    EXPECT_TRUE(edge) << edge.error().where << ": " << edge.error().message;
    return edge ? std::move(*edge) : nullptr;
  }
  EdgeError open_fails(const PcapEdge::Config& config) {
    auto edge = PcapEdge::open("edge", config, *pool);
    EXPECT_FALSE(edge);
    return edge ? EdgeError{} : edge.error();
  }

  // Plays `from` into a file and returns what the file then holds; counters and errors go to the members.
  std::vector<CapturedFrame> play(PcapEdge::Config from, uint32_t snap_bytes = PcapWriter::kWholeFrames) {
    const std::string out = files.path();
    auto source = open(from);
    auto sink = open({.write_path = out, .snap_bytes = snap_bytes});
    if (!source || !sink) return {};
    VirtualClock clock;
    Engine engine{clock, Engine::Config{}};
    PcapEdge& in = *source;
    const PortRef a{engine.add(std::move(source), 0), PortNo{0}};
    const PortRef b{engine.add(std::move(sink), 0), PortNo{0}};
    engine.connect(a, b, Rate::gbps(100), kWireDelay);
    EXPECT_EQ(engine.run(Instant::never()), RunEnd::kIdle);
    EXPECT_EQ(engine.drain(), 0U);
    counters = in.counters();
    faults = in.faults();
    return parse_pcap(TemporaryFiles::content(out));
  }
  // When the last bit of a frame that starts at `start_ns` has arrived.
  static int64_t arrival_ns(int64_t start_ns, int64_t frame_bytes) {
    return (start_ns * 1000 + (std::max<int64_t>(frame_bytes, 60) + 24) * kPsPerByte + kWireDelay.count_ps()) / 1000;
  }

  TemporaryFiles files;
  std::unique_ptr<PacketPool> pool;
  EdgeCounters counters;
  std::vector<EdgeFault> faults;
};

TEST_F(PcapEdgeTest, EntersFramesAtTheirTimesSinceTheFirstOne) {
  const std::vector<CapturedFrame> in{frame_at(kMonday, 64, 1), frame_at(kMonday + 1'000, 1500, 2),
                                      frame_at(kMonday + 5'000'000'123, 9000, 3)};
  const auto out = play({.read_path = files.with(pcap_bytes(in))});
  ASSERT_EQ(out.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(out[i].bytes, in[i].bytes);
    EXPECT_EQ(out[i].at_ns, arrival_ns(in[i].at_ns - kMonday, in[i].length));
  }
  EXPECT_EQ(counters.in_packets, 3U);
  EXPECT_EQ(counters.in_bytes, 64U + 1500 + 9000);
  EXPECT_TRUE(faults.empty());
}

TEST_F(PcapEdgeTest, ReadsEveryKindOfFileAlike) {
  const std::vector<CapturedFrame> in{frame_at(kMonday, 64, 1), frame_at(kMonday + 77'000, 1501, 2)};
  const auto expected = play({.read_path = files.with(pcap_bytes(in))});
  ASSERT_EQ(expected.size(), 2U);
  EXPECT_EQ(play({.read_path = files.with(pcap_bytes(in, {.big_endian = true}))}), expected);
  EXPECT_EQ(play({.read_path = files.with(pcap_bytes(in, {.nanoseconds = false}))}), expected);
  EXPECT_EQ(play({.read_path = files.with(pcapng_bytes(in))}), expected);
}

TEST_F(PcapEdgeTest, AddsTheOffset) {
  const auto out = play({.read_path = files.with(pcap_bytes({frame_at(kMonday, 60, 1)})), .offset = Duration::us(3)});
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].at_ns, arrival_ns(3000, 60));
}

TEST_F(PcapEdgeTest, TakesRecordedTimesAsTheFabricsIfToldSo) {
  const auto out = play({.read_path = files.with(pcap_bytes({frame_at(5000, 60, 1), frame_at(9000, 60, 2)})),
                         .offset = Duration::ns(-6000),
                         .zero_ns = 0});
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].at_ns, arrival_ns(0, 60));  // before the start: at the start
  EXPECT_EQ(out[1].at_ns, arrival_ns(3000, 60));
}

TEST_F(PcapEdgeTest, ShapesToTheLinkAndKeepsTheOrderWhenTheFileIsFaster) {
  std::vector<CapturedFrame> in;
  for (uint8_t i = 0; i < 100; ++i) in.push_back(frame_at(kMonday - i, 1500, i));  // and backwards in time
  const auto out = play({.read_path = files.with(pcap_bytes(in))});
  ASSERT_EQ(out.size(), 100U);
  for (int64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(out[i].bytes, in[i].bytes);
    EXPECT_EQ(out[i].at_ns, ((i + 1) * 1524 * kPsPerByte + kWireDelay.count_ps()) / 1000);
  }
}

TEST_F(PcapEdgeTest, FillsUpWhatTheCaptureHasCutWithZeros) {
  const CapturedFrame cut{kMonday, numbered_frame(96, 9), 1400};
  const CapturedFrame nearly{kMonday + 1'000'000, numbered_frame(1398, 9), 1400};
  const auto out = play({.read_path = files.with(pcap_bytes({cut, nearly}))});
  ASSERT_EQ(out.size(), 2U);
  for (const auto& [frame, captured] : {std::pair{out[0], 96}, std::pair{out[1], 1398}}) {
    std::vector<uint8_t> whole = numbered_frame(static_cast<uint32_t>(captured), 9);
    whole.resize(1400);
    EXPECT_EQ(frame.bytes, whole);
    EXPECT_EQ(frame.length, 1400U);
  }
  EXPECT_EQ(out[0].at_ns, arrival_ns(0, 1400));
}

TEST_F(PcapEdgeTest, CutsAtTheSnapLengthAndTellsTheTrueOne) {
  const auto out = play({.read_path = files.with(pcap_bytes({frame_at(0, 1500, 7)}))}, 100);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].bytes, numbered_frame(100, 7));
  EXPECT_EQ(out[0].length, 1500U);
}

TEST_F(PcapEdgeTest, DropsAndNamesFramesThatNoPortTakes) {
  const std::vector<CapturedFrame> in{frame_at(0, 0, 1),
                                      frame_at(1, 13, 1),
                                      frame_at(2, 14, 2),
                                      {3, numbered_frame(13, 1), 64},
                                      frame_at(4, kMaxFrameBytes, 3),
                                      frame_at(5, kMaxFrameBytes + 1, 4)};
  const auto out = play({.read_path = files.with(pcap_bytes(in))});
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].bytes, in[2].bytes);
  EXPECT_EQ(out[1].bytes, in[4].bytes);
  EXPECT_EQ(count(counters.in_drops, DropReason::kTruncated), 3U);
  EXPECT_EQ(count(counters.in_drops, DropReason::kOversize), 1U);
}

TEST_F(PcapEdgeTest, GivesTheSameBytesEveryTime) {
  std::vector<CapturedFrame> in;
  for (uint8_t i = 0; i < 50; ++i) in.push_back(frame_at(kMonday + i * 100, 60U + i, i));
  const std::string path = files.with(pcap_bytes(in));
  EXPECT_EQ(play({.read_path = path}), play({.read_path = path}));
}

TEST_F(PcapEdgeTest, EndsTheInputWhereTheFileBreaksOff) {
  auto bytes = pcap_bytes({frame_at(0, 100, 1), frame_at(1000, 100, 2)});
  bytes.resize(bytes.size() - 1);
  EXPECT_EQ(play({.read_path = files.with(bytes)}).size(), 1U);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_NE(faults[0].error.message.find("truncated"), std::string::npos) << faults[0].error.message;
}

TEST_F(PcapEdgeTest, SaysWhenAFrameLiesBeyondTheTimeItCanCount) {
  EXPECT_EQ(
      play({.read_path = files.with(pcap_bytes({frame_at(0, 60, 1), frame_at(200LL * 86'400 * 1'000'000'000, 60, 2)}))})
          .size(),
      1U);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_NE(faults[0].error.message.find("106 days"), std::string::npos) << faults[0].error.message;
}

TEST_F(PcapEdgeTest, PlaysOnAClockThatIsNotItsOwn) {
  ManualClock clock;
  Engine engine{clock, Engine::Config{}};
  const std::string path = files.with(pcap_bytes({frame_at(0, 60, 1), frame_at(10'000, 60, 2)}));
  const PortRef a{engine.add(open({.read_path = path}), 0), PortNo{0}};
  auto owned = std::make_unique<Probe>(*pool);
  Probe& probe = *owned;
  const PortRef b{engine.add(std::move(owned), 0), PortNo{0}};
  engine.connect(a, b, Rate::gbps(100), kWireDelay);
  clock.set(Instant::at(Duration::us(5)));
  engine.run(Instant::at(Duration::us(5)));
  EXPECT_EQ(probe.arrivals().size(), 1U);
  clock.set(Instant::at(Duration::us(20)));
  engine.run(Instant::at(Duration::us(20)));
  ASSERT_EQ(probe.arrivals().size(), 2U);
  EXPECT_EQ(probe.arrivals()[1].at - probe.arrivals()[0].at, Duration::us(10));
  engine.drain();
}

TEST_F(PcapEdgeTest, NamesTheFileThatItCannotUse) {
  const auto says = [this](const std::string& path, const char* what) {
    const EdgeError error = open_fails({.read_path = path});
    EXPECT_EQ(error.where, path);
    EXPECT_NE(error.message.find(what), std::string::npos) << error.message;
  };
  says("/nonexistent/in.pcap", "No such file");
  says("/tmp", "directory");
  says(files.with({}), "truncated");
  says(files.with(
           {'n', 'o', ' ', 'c', 'a', 'p', 't', 'u', 'r', 'e', ' ', 'h', 'e', 'r', 'e', '!', 0, 0, 0, 0, 0, 0, 0, 0}),
       "unknown file format");
  says(files.with(pcap_bytes({}, {.link_type = 113})), "LINUX_SLL");
  auto broken = pcap_bytes({frame_at(0, 100, 1)});
  broken.resize(60);
  says(files.with(broken), "truncated");
  EXPECT_EQ(open_fails({.write_path = "/nonexistent/out.pcap"}).where, "/nonexistent/out.pcap");
  EXPECT_EQ(open_fails({.write_path = "/dev/full"}).message, "No space left on device");
  const std::string both = files.with(pcap_bytes({frame_at(0, 100, 1)}));
  EXPECT_EQ(open_fails({.read_path = both, .write_path = both}).where, both);
  EXPECT_GT(TemporaryFiles::content(both).size(), 100U);  // and it is still there
}

TEST_F(PcapEdgeTest, SaysWhenTheOutputCouldNotBeWritten) {
  auto edge = open({.write_path = files.path()});
  PcapEdge& sink = *edge;
  VirtualClock clock;
  Engine engine{clock, Engine::Config{}};
  const PortRef a{engine.add(open({.read_path = files.with(pcap_bytes({frame_at(0, 9000, 1)}))}), 0), PortNo{0}};
  const PortRef b{engine.add(std::move(edge), 0), PortNo{0}};
  engine.connect(a, b, Rate::gbps(100), kWireDelay);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  engine.run(Instant::never());
  engine.drain();
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(sink.counters().out_packets, 0U);
  EXPECT_EQ(sink.counters().out_bytes, 0U);
  EXPECT_EQ(count(sink.counters().out_drops, DropReason::kEdgeFull), 1U);
  ASSERT_EQ(sink.faults().size(), 1U);
  EXPECT_NE(sink.faults()[0].error.message.find("File too large"), std::string::npos);
}

}  // namespace
}  // namespace softspine::dataplane
