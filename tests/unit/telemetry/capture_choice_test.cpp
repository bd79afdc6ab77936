// SPDX-License-Identifier: Apache-2.0
// What a capture takes, and into which files it goes.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "control/capture/capture.hpp"
#include "tests/harness/bare_packet.hpp"
#include "tests/unit/telemetry/block_reader.hpp"

namespace softspine::control {
namespace {

using dataplane::Direction;
using dataplane::Duration;
using dataplane::Instant;
using dataplane::Rate;
using dataplane::Tap;
using tests::BarePacket;
using tests::read_pcapng;

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out.push_back(static_cast<char>(value));
  return out;
}
// From 10.0.0.1 to 10.0.0.`host`, UDP to port 4791, ECN as given, 60 bytes.
std::string roce(int host, int ecn = 2) {
  std::string out = std::string(12, '\2') +
                    bytes({8, 0, 0x45, 12 | ecn, 0, 46, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, host}) +
                    bytes({0xc0, 0, 0x12, 0xb7, 0, 26, 0, 0});
  out.resize(60);
  return out;
}
std::string pause(int opcode_low) {
  std::string out = bytes({1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x88, 8, opcode_low == 1 ? 1 : 0, 1});
  out.resize(60);
  return out;
}

class CaptureChoice : public testing::Test {
 protected:
  CaptureChoice() {
    std::string made = (std::filesystem::temp_directory_path() / "softspine-choice-XXXXXX").string();
    if (mkdtemp(made.data()) == nullptr) throw std::runtime_error("no folder");
    folder_ = made;
  }
  ~CaptureChoice() override { std::filesystem::remove_all(folder_); }

  void open(CaptureOptions options, Instant until = Instant::never()) {
    auto capture = Capture::open(path(), std::move(options));
    ASSERT_TRUE(capture) << capture.error();
    capture_ = std::move(*capture);
    tap_ = capture_->add_port("tor1:Ethernet0", Rate::gbps(100), 0);
    capture_->start(until);
  }
  void frame(const std::string& stored, Duration at = {}, uint32_t frame_bytes = 0) {
    tap_->frame(Direction::kTransmitted, *BarePacket{stored, frame_bytes}, Instant::at(at), nullptr);
  }
  CaptureTotals close() { return *capture_->close(); }
  std::string path() const { return (folder_ / "out.pcapng").string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& each : std::filesystem::directory_iterator(folder_)) out.push_back(each.path().filename());
    std::ranges::sort(out);
    return out;
  }
  size_t frames_in(const std::string& name) const { return read_pcapng((folder_ / name).string()).frames.size(); }
  size_t taken_by(const std::string& filter) {
    open({.filter = filter});
    for (const std::string& each : {roce(1), roce(2), roce(2, 3), pause(1), pause(0)}) frame(each);
    return close().frames;
  }

  std::filesystem::path folder_;
  std::unique_ptr<Capture> capture_;
  Tap* tap_ = nullptr;
};
using Names = std::vector<std::string>;

TEST_F(CaptureChoice, IsLibpcapsExpression) {
  EXPECT_EQ(taken_by(""), 5u);
  EXPECT_EQ(taken_by("udp port 4791"), 3u);
  EXPECT_EQ(taken_by("udp port 4791 and host 10.0.0.2"), 2u);
  EXPECT_EQ(taken_by("ip[1] & 3 = 3"), 1u);
  EXPECT_EQ(taken_by("ether proto 0x8808"), 2u);
  EXPECT_EQ(taken_by("ether proto 0x8808 and ether[14:2] = 0x0101"), 1u);
  EXPECT_EQ(taken_by("not ip"), 2u);
}

TEST_F(CaptureChoice, SeesWhatIsStoredWhateverTheSnapLength) {
  open({.snaplen = 14, .filter = "udp port 4791"});
  frame(roce(1));
  EXPECT_EQ(close().frames, 1u);
  // Of 1000 bytes 60 are stored, the last four of them the ICRC, which stood behind the payload.
  open({.filter = "ether[55] = 0 or greater 1000"});
  frame(roce(1), {}, 1000);
  EXPECT_EQ(close().frames, 1u);
  open({.filter = "ether[56] = 0"});
  frame(roce(1), {}, 1000);
  EXPECT_EQ(close().frames, 0u) << "not stored there";
  open({.filter = "greater 1000"});
  frame(roce(1), {}, 1000);
  EXPECT_EQ(close().frames, 1u) << "its length is the frame's";
}

TEST_F(CaptureChoice, RefusesWhatIsNoExpressionAndMakesNoFile) {
  const auto wrong = Capture::open(path(), {.filter = "udp prot 4791"});
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().find("the filter 'udp prot 4791': "), std::string::npos) << wrong.error();
  EXPECT_TRUE(names().empty());
}

TEST_F(CaptureChoice, TakesNothingFromItsEndOn) {
  open({}, Instant::at(Duration::us(5)));
  for (int i = 0; i < 10; ++i) frame(roce(1), Duration::us(i));
  EXPECT_EQ(close().frames, 5u);
}

TEST_F(CaptureChoice, BeginsANewFileWhenTheLastIsFull) {
  open({.rotation = {.bytes = 1000}});
  for (int i = 0; i < 30; ++i) frame(roce(i), Duration::us(i));
  const CaptureTotals totals = close();
  EXPECT_EQ(totals.frames, 30u);
  EXPECT_GT(totals.files, 2u);
  ASSERT_EQ(names().size(), totals.files);
  EXPECT_EQ(names()[0], "out-00001.pcapng");
  size_t frames = 0;
  uint64_t bytes = 0;
  for (const std::string& name : names()) {
    const auto read = read_pcapng((folder_ / name).string());
    EXPECT_EQ(read.interfaces, Names{"tor1:Ethernet0"}) << "each can be read alone";
    EXPECT_LE(read.content.size(), 1000u);
    for (const auto& each : read.frames) EXPECT_EQ(each.bytes, roce(static_cast<int>(frames++)));
    bytes += read.content.size();
  }
  EXPECT_EQ(frames, 30u);
  EXPECT_EQ(bytes, totals.bytes);
}

// What a file of three frames has when nothing bounds it is just enough for three, and a byte less for two.
TEST_F(CaptureChoice, AFileIsFilledToItsLastByte) {
  const auto three = [this](uint64_t limit) {
    open({.rotation = {.bytes = limit}});
    for (int i = 0; i < 3; ++i) frame(roce(i), Duration::us(i));
    return close();
  };
  const uint64_t whole = three(1'000'000).bytes;
  EXPECT_EQ(three(whole).files, 1u);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "out-00001.pcapng"), whole);
  EXPECT_EQ(three(whole - 1).files, 2u);
  EXPECT_EQ(frames_in("out-00001.pcapng"), 2u);
  EXPECT_EQ(frames_in("out-00002.pcapng"), 1u);
}

TEST_F(CaptureChoice, TellsWhichOfItsFilesCannotBeOpened) {
  std::filesystem::create_directory(folder_ / "out-00002.pcapng");
  open({.rotation = {.bytes = 1}});
  for (int i = 0; i < 3; ++i) frame(roce(i), Duration::us(i));
  const auto totals = capture_->close();
  ASSERT_FALSE(totals);
  const std::string second = (folder_ / "out-00002.pcapng").string();
  EXPECT_EQ(totals.error(),
            "the capture " + (folder_ / "out-*.pcapng").string() + " is not whole: " + second + ": Is a directory");
  EXPECT_EQ(frames_in("out-00001.pcapng"), 1u) << "what was written before stays";
  EXPECT_EQ(names().size(), 2u) << "and no third file begins";
}

TEST_F(CaptureChoice, BeginsANewFileWhenItsTimeIsOver) {
  open({.rotation = {.every = Duration::us(10)}});
  for (const int at : {1, 9, 10, 19, 55, 58, 60}) frame(roce(1), Duration::us(at));
  EXPECT_EQ(close().files, 4u) << "none for times without a frame";
  EXPECT_EQ(frames_in("out-00001.pcapng"), 2u);
  EXPECT_EQ(frames_in("out-00002.pcapng"), 2u);
  EXPECT_EQ(frames_in("out-00003.pcapng"), 2u);
  EXPECT_EQ(frames_in("out-00004.pcapng"), 1u);
}

TEST_F(CaptureChoice, KeepsTheLastFiles) {
  open({.rotation = {.every = Duration::us(10), .keep = 2}});
  for (int i = 0; i < 100; ++i) frame(roce(1), Duration::us(i));
  EXPECT_EQ(close().files, 10u);
  EXPECT_EQ(names(), (Names{"out-00009.pcapng", "out-00010.pcapng"}));
}

TEST_F(CaptureChoice, RemovesNoFileThatItHasNotWritten) {
  const auto kept = [this](uint32_t keep) {
    std::ofstream(folder_ / "out-00000.pcapng") << "another's";
    open({.rotation = {.every = Duration::us(10), .keep = keep}});
    for (int i = 0; i < 3; ++i) frame(roce(1), Duration::us(10 * i));
    close();
    Names out = names();
    for (const std::string& name : out) std::filesystem::remove(folder_ / name);
    return out;
  };
  EXPECT_EQ(kept(2), (Names{"out-00000.pcapng", "out-00002.pcapng", "out-00003.pcapng"}));
  EXPECT_EQ(kept(3), (Names{"out-00000.pcapng", "out-00001.pcapng", "out-00002.pcapng", "out-00003.pcapng"}));
  EXPECT_EQ(kept(1), (Names{"out-00000.pcapng", "out-00003.pcapng"}));
}

TEST_F(CaptureChoice, AFrameTooLargeForItsFileHasOneOfItsOwn) {
  open({.rotation = {.bytes = 1}});
  for (int i = 0; i < 3; ++i) frame(roce(i));
  EXPECT_EQ(close().files, 3u);
  EXPECT_EQ(frames_in("out-00002.pcapng"), 1u);
}

TEST_F(CaptureChoice, LimitsAllFilesTogether) {
  open({.max_bytes = 2'000, .rotation = {.bytes = 1'000}});
  for (int i = 0; i < 100; ++i) frame(roce(1), Duration::us(i));
  const CaptureTotals totals = close();
  EXPECT_LE(totals.bytes, 2'000u);
  EXPECT_EQ(totals.frames + totals.omitted, 100u);
}

}  // namespace
}  // namespace softspine::control
