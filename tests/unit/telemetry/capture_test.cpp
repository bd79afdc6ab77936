// SPDX-License-Identifier: Apache-2.0
#include "control/capture/capture.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include "tests/harness/bare_packet.hpp"
#include "tests/unit/telemetry/block_reader.hpp"

namespace softspine::control {
namespace {

using dataplane::Direction;
using dataplane::Instant;
using dataplane::Rate;
using dataplane::Tap;
using tests::BarePacket;
using tests::read_pcapng;

// A file in memory that has a path.
class MemoryFile {
 public:
  MemoryFile() : file_(memfd_create("capture", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(file_)) {}
  ~MemoryFile() { ::close(file_); }
  const std::string& path() const { return path_; }

 private:
  int file_;
  std::string path_;
};

std::unique_ptr<Capture> opened(const MemoryFile& file, CaptureOptions options) {
  auto capture = Capture::open(file.path(), std::move(options));
  if (!capture) throw std::runtime_error(capture.error());
  return std::move(*capture);
}

std::unique_ptr<Capture> with_one_port(const MemoryFile& file, CaptureOptions options, Tap*& tap) {
  auto capture = opened(file, std::move(options));
  tap = capture->add_port("tor1:Ethernet0", Rate::gbps(400), 0);
  capture->start();
  return capture;
}

TEST(Capture, CutsAFrameAtTheSnapLengthAndKeepsItsTrueLength) {
  const MemoryFile file;
  Tap* tap = nullptr;
  auto capture = with_one_port(file, {.snaplen = 10, .comment = "seed 7"}, tap);
  tap->frame(Direction::kReceived, *BarePacket{"0123456789abcdef"}, Instant::at_ps(6720), nullptr);
  tap->frame(Direction::kTransmitted, *BarePacket{"01234"}, Instant::at_ps(13'440), "CE marked");
  EXPECT_EQ(capture->close()->frames, 2u);

  const auto read = read_pcapng(file.path());
  ASSERT_EQ(read.frames.size(), 2u);
  EXPECT_EQ(read.frames[0].bytes, "0123456789");
  EXPECT_EQ(read.frames[0].original_bytes, 16u);
  EXPECT_EQ(read.frames[0].ticks, 67u);
  EXPECT_EQ(read.frames[0].flags, 1u);
  EXPECT_EQ(read.frames[1].bytes, "01234");
  EXPECT_EQ(read.frames[1].flags, 2u);
  EXPECT_EQ(read.frames[1].comment, "CE marked");
}

TEST(Capture, TakesOnlyTheHeadOfAFrameWhosePayloadIsElided) {
  const MemoryFile file;
  Tap* tap = nullptr;
  auto capture = with_one_port(file, {.snaplen = 256}, tap);
  tap->frame(Direction::kTransmitted, *BarePacket{"headersICRC", 1086}, Instant::at_ps(1), nullptr);
  ASSERT_TRUE(capture->close());
  const auto read = read_pcapng(file.path());
  EXPECT_EQ(read.frames.at(0).bytes, "headers");
  EXPECT_EQ(read.frames.at(0).original_bytes, 1086u);
}

TEST(Capture, PutsTheZerosOfAPayloadBackIfFramesAreToBeWhole) {
  const MemoryFile file;
  Tap* tap = nullptr;
  auto capture = with_one_port(file, {.snaplen = 10, .full = true}, tap);
  tap->frame(Direction::kTransmitted, *BarePacket{"headersICRC", 1086}, Instant::at_ps(1), "CE marked");
  tap->frame(Direction::kTransmitted, *BarePacket{"longer than the snap length"}, Instant::at_ps(200), nullptr);
  ASSERT_TRUE(capture->close());
  const auto read = read_pcapng(file.path());
  ASSERT_EQ(read.frames.size(), 2u);
  EXPECT_EQ(read.frames[0].bytes, "headers" + std::string(1086 - 11, '\0') + "ICRC");
  EXPECT_EQ(read.frames[0].original_bytes, 1086u);
  EXPECT_EQ(read.frames[0].comment, "CE marked");
  EXPECT_EQ(read.frames[1].bytes, "longer than the snap length");
}

TEST(Capture, GivesTapsOnlyToPortsThatAPatternNames) {
  const MemoryFile file;
  auto capture = opened(file, {.ports = {"tor1:*", "core?:Ethernet0"}});
  EXPECT_NE(capture->add_port("tor1:Ethernet0", Rate::gbps(1), 0), nullptr);
  EXPECT_EQ(capture->add_port("tor2:Ethernet0", Rate::gbps(1), 0), nullptr);
  EXPECT_NE(capture->add_port("core1:Ethernet0", Rate::gbps(1), 0), nullptr);
  EXPECT_EQ(capture->add_port("core1:Ethernet4", Rate::gbps(1), 0), nullptr);
  ASSERT_TRUE(capture->close());
  EXPECT_EQ(read_pcapng(file.path()).interfaces, (std::vector<std::string>{"tor1:Ethernet0", "core1:Ethernet0"}));
}

TEST(Capture, DescribesAnInterfaceByThePortItsLinkLeadsTo) {
  const MemoryFile file;
  auto capture = opened(file, {});
  EXPECT_NE(capture->add_port("tor1:Ethernet0", Rate::gbps(1), 0, pcapng::link_description("h1:eth0", 1)), nullptr);
  EXPECT_NE(capture->add_port("tor1:Ethernet4", Rate::gbps(1), 0), nullptr);
  ASSERT_TRUE(capture->close());
  EXPECT_EQ(read_pcapng(file.path()).descriptions, (std::vector<std::string>{"link to h1:eth0, one of 1 port", ""}));
}

TEST(Capture, SaysHowManyPortsANodeHasOnlyIfItHasAllTheirFrames) {
  EXPECT_EQ(pcapng::link_description("h1:eth0", 32), "link to h1:eth0, one of 32 ports");
  EXPECT_EQ(pcapng::link_description("h1:eth0", 0), "link to h1:eth0");
}

TEST(Capture, HoldsAFrameThatLeavesAfterTheFloorUntilItsTurn) {
  const MemoryFile file;
  Tap* tap = nullptr;
  auto capture = with_one_port(file, {}, tap);
  tap->frame(Direction::kTransmitted, *BarePacket{"late"}, Instant::at_ps(900'000), nullptr);
  capture->flush(Instant::at_ps(500'000));
  tap->frame(Direction::kReceived, *BarePacket{"early"}, Instant::at_ps(600'000), nullptr);
  capture->flush(Instant::at_ps(700'000));
  ASSERT_TRUE(capture->close());
  const auto read = read_pcapng(file.path());
  ASSERT_EQ(read.frames.size(), 2u);
  EXPECT_EQ(read.frames[0].bytes, "early");
  EXPECT_EQ(read.frames[1].bytes, "late");
}

// One port's frames, in the order in which its node sees them.
struct Sighting {
  uint32_t port;
  Direction direction;
  int64_t at;
  std::string bytes;
};

std::vector<Sighting> random_sightings(uint32_t ports, uint64_t seed) {
  std::mt19937_64 random{seed};
  std::vector<Sighting> all;
  for (int i = 0; i < 2000; ++i) {
    const auto slot = static_cast<int64_t>(i) / 40 * 1000;  // many frames at one instant
    all.push_back({static_cast<uint32_t>(random() % ports),
                   random() % 2 ? Direction::kReceived : Direction::kTransmitted,
                   slot + static_cast<int64_t>(random() % 3) * 1500, "frame " + std::to_string(i)});
  }
  return all;
}

std::string captured_with(uint32_t workers, const std::vector<int>& flush_after, const std::vector<Sighting>& all,
                          uint32_t ports) {
  const MemoryFile file;
  auto capture = opened(file, {.buffer_bytes = 512, .grow = true, .workers = workers});
  std::vector<Tap*> taps;
  for (uint32_t p = 0; p < ports; ++p) taps.push_back(capture->add_port("n:" + std::to_string(p), Rate::gbps(1), p));
  capture->start();
  size_t next_flush = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (next_flush < flush_after.size() && static_cast<size_t>(flush_after[next_flush]) == i) {
      capture->flush(Instant::at_ps(static_cast<int64_t>(i) / 40 * 1000));
      ++next_flush;
    }
    taps[all[i].port]->frame(all[i].direction, *BarePacket{all[i].bytes}, Instant::at_ps(all[i].at), nullptr);
  }
  EXPECT_EQ(capture->close()->frames, all.size());
  return read_pcapng(file.path()).content;
}

TEST(Capture, WritesTheSameBytesForAnyNumberOfWorkersAndAnyFlushing) {
  constexpr uint32_t kPorts = 7;
  const auto all = random_sightings(kPorts, 1);
  const std::string one = captured_with(1, {}, all, kPorts);
  EXPECT_EQ(captured_with(1, {40, 80, 1000}, all, kPorts), one);
  EXPECT_EQ(captured_with(2, {500, 1200, 1201}, all, kPorts), one);
  EXPECT_EQ(captured_with(5, {1, 2, 3, 1999}, all, kPorts), one);
}

TEST(Capture, SettlesTiesByInterfaceThenDirectionThenOrder) {
  const MemoryFile file;
  auto capture = opened(file, {.workers = 2});
  Tap* first = capture->add_port("a:0", Rate::gbps(1), 1);
  Tap* second = capture->add_port("b:0", Rate::gbps(1), 0);
  capture->start();
  const Instant at = Instant::at_ps(5000);
  second->frame(Direction::kReceived, *BarePacket{"b in"}, at, nullptr);
  first->frame(Direction::kTransmitted, *BarePacket{"a out"}, at, nullptr);
  first->frame(Direction::kReceived, *BarePacket{"a in 1"}, at, nullptr);
  first->frame(Direction::kReceived, *BarePacket{"a in 2"}, at, nullptr);
  ASSERT_TRUE(capture->close());
  std::vector<std::string> order;
  for (const auto& frame : read_pcapng(file.path()).frames) order.push_back(frame.bytes);
  EXPECT_EQ(order, (std::vector<std::string>{"a in 1", "a in 2", "a out", "b in"}));
}

TEST(Capture, CountsAndTellsWhatFoundNoRoom) {
  const MemoryFile file;
  Tap* tap = nullptr;
  auto capture = with_one_port(file, {.buffer_bytes = 100}, tap);
  const BarePacket frame{std::string(60, 'x')};
  for (int i = 0; i < 4; ++i) tap->frame(Direction::kReceived, *frame, Instant::at_ps(i * 1000), nullptr);
  capture->flush(Instant::at_ps(4000));
  tap->frame(Direction::kReceived, *frame, Instant::at_ps(5000), nullptr);
  const auto totals = capture->close();
  ASSERT_TRUE(totals);
  EXPECT_EQ(totals->frames, 2u);
  EXPECT_EQ(totals->missed, 3u);
  const auto read = read_pcapng(file.path());
  EXPECT_EQ(read.frames.at(0).missed_before, 0u);
  EXPECT_EQ(read.frames.at(1).missed_before, 3u);
}

// No later frame of the port carries their number.
TEST(Capture, TellsAtItsEndOfFramesThatWereMissedAfterAPortsLast) {
  const MemoryFile file;
  auto capture = opened(file, {.buffer_bytes = 100});
  Tap* first = capture->add_port("a:0", Rate::gbps(1), 0);
  ASSERT_NE(capture->add_port("b:0", Rate::gbps(1), 0), nullptr);
  capture->start();
  const BarePacket frame{std::string(60, 'x')};
  for (int i = 0; i < 4; ++i) first->frame(Direction::kReceived, *frame, Instant::at_ps(i * 1000), nullptr);
  ASSERT_EQ(capture->close()->missed, 3u);
  const auto read = read_pcapng(file.path());
  ASSERT_EQ(read.frames.size(), 1u);
  ASSERT_EQ(read.statistics.size(), 2u);
  EXPECT_EQ(read.statistics[0].interface, 0u);
  EXPECT_EQ(read.statistics[0].received, 4u);
  EXPECT_EQ(read.statistics[0].dropped, 3u);
  EXPECT_EQ(read.statistics[0].ticks, 0u) << "of the last frame that was written";
  EXPECT_EQ(read.statistics[1].interface, 1u);
  EXPECT_EQ(read.statistics[1].received, 0u);
  EXPECT_EQ(read.statistics[1].dropped, 0u);
}

TEST(Capture, SaysByWhichFilterItsFramesWereChosen) {
  for (const std::string filter : {"", "udp port 4791"}) {
    const MemoryFile file;
    Tap* tap = nullptr;
    ASSERT_TRUE(with_one_port(file, {.filter = filter}, tap)->close());
    EXPECT_EQ(read_pcapng(file.path()).filters.at(0), filter.empty() ? "" : std::string(1, '\0') + filter);
  }
}

TEST(Capture, AsksForAFlushOnceWhenHalfFull) {
  const MemoryFile file;
  int asked = 0;
  auto capture = opened(file, {.buffer_bytes = 100});
  Tap* tap = capture->add_port("tor1:Ethernet0", Rate::gbps(1), 0);
  capture->on_pressure([&asked] { ++asked; });
  capture->start();
  const BarePacket frame{std::string(30, 'x')};
  tap->frame(Direction::kReceived, *frame, Instant::at_ps(1), nullptr);
  EXPECT_EQ(asked, 0);
  tap->frame(Direction::kReceived, *frame, Instant::at_ps(2), nullptr);
  tap->frame(Direction::kReceived, *frame, Instant::at_ps(3), nullptr);
  EXPECT_EQ(asked, 1);
  capture->flush(Instant::at_ps(4));
  tap->frame(Direction::kReceived, *frame, Instant::at_ps(5), nullptr);
  tap->frame(Direction::kReceived, *frame, Instant::at_ps(6), nullptr);
  EXPECT_EQ(asked, 2);
}

TEST(Capture, StopsBeforeTheFileExceedsItsMaximum) {
  const MemoryFile unlimited;
  Tap* tap = nullptr;
  const BarePacket frame{std::string(60, 'x')};
  auto capture = with_one_port(unlimited, {}, tap);
  for (int i = 0; i < 10; ++i) tap->frame(Direction::kReceived, *frame, Instant::at_ps(i), nullptr);
  const uint64_t whole = capture->close()->bytes;
  EXPECT_EQ(whole, read_pcapng(unlimited.path()).content.size());

  const MemoryFile limited;
  capture = with_one_port(limited, {.max_bytes = whole - 1}, tap);
  for (int i = 0; i < 10; ++i) tap->frame(Direction::kReceived, *frame, Instant::at_ps(i), nullptr);
  const auto totals = capture->close();
  EXPECT_EQ(totals->frames, 9u);
  EXPECT_EQ(totals->omitted, 1u);
  EXPECT_EQ(read_pcapng(limited.path()).content.size(), totals->bytes);
  EXPECT_LT(totals->bytes, whole);

  const MemoryFile exact;
  capture = with_one_port(exact, {.max_bytes = whole}, tap);
  for (int i = 0; i < 11; ++i) tap->frame(Direction::kReceived, *frame, Instant::at_ps(i), nullptr);
  const auto all = capture->close();
  EXPECT_EQ(all->frames, 10u) << "to the last byte";
  EXPECT_EQ(all->omitted, 1u);
  EXPECT_EQ(all->bytes, whole);
}

TEST(Capture, SaysWhyAFileCannotBeWritten) {
  const auto missing = Capture::open("/nonexistent/folder/out.pcapng", {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(), "cannot write the capture /nonexistent/folder/out.pcapng: No such file or directory");

  auto full = Capture::open("/dev/full", {});
  ASSERT_TRUE(full);
  const auto totals = (*full)->close();
  ASSERT_FALSE(totals);
  EXPECT_EQ(totals.error(), "the capture /dev/full is not whole: No space left on device");
}

}  // namespace
}  // namespace softspine::control
