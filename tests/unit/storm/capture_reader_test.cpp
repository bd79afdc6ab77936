// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/capture_reader.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/storm/capture_bytes.hpp"

namespace softspine::analysis::storm {
namespace {

using tests::CaptureBytes;
using tests::CaptureMaker;

struct Read {
  struct Frame {
    uint32_t interface;
    Way way;
    int64_t at_ps;
    CaptureBytes bytes;
    uint64_t missed_before;
  };
  std::vector<Frame> frames;
  std::vector<CapturedInterface> interfaces;
  std::optional<CaptureError> error;
  int64_t origin_seconds = 0;
  uint64_t untimed = 0;
  uint64_t mistimed = 0;
};

Read read_all(const CaptureBytes& bytes, size_t piece = SIZE_MAX) {
  CaptureReader reader{tests::reading(bytes, piece)};
  Read out;
  CapturedFrame frame;
  for (;;) {
    const auto got = reader.next(frame);
    if (!got) {
      out.error = got.error();
      EXPECT_EQ(reader.next(frame).error().offset, out.error->offset) << "an error sticks";
    }
    if (!got || !*got) break;
    out.frames.push_back({frame.interface,
                          frame.way,
                          frame.at.count_ps(),
                          {frame.bytes.begin(), frame.bytes.end()},
                          frame.missed_before});
  }
  out.interfaces = reader.interfaces();
  out.origin_seconds = reader.origin_seconds();
  out.untimed = reader.untimed_frames();
  out.mistimed = reader.mistimed_frames();
  return out;
}

class InEitherOrder : public testing::TestWithParam<bool> {
 protected:
  CaptureMaker made{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(CaptureReader, InEitherOrder, testing::Bool(),
                         [](const auto& it) { return it.param ? "BigEndian" : "LittleEndian"; });

CaptureMaker whole_fabric(bool big_endian) {
  CaptureMaker made{big_endian};
  made.section();
  CaptureMaker tor = made.part();
  tor.option(2, "tor1:Ethernet4");
  tor.option(3, "link to h1:eth0");
  tor.number(8, uint64_t{100'000'000'000});
  tor.number(9, uint8_t{10});
  made.interface(tor);
  CaptureMaker binary = made.part();
  binary.option(6, CaptureBytes{2, 0, 0, 0, 0, 9});
  binary.number(9, uint8_t{0x80 | 20});
  binary.number(14, uint64_t{3});
  made.interface(binary);
  CaptureMaker out = made.part();
  out.number(2, uint32_t{2});
  out.number(4, uint64_t{7});
  out.option(1, "XOFF raised");
  made.frame(0, 123, {1, 2, 3, 4, 5}, out);
  CaptureMaker in = made.part();
  in.number(2, uint32_t{1});
  made.frame(1, 1 << 19, {6}, in);
  return made;
}

TEST_P(InEitherOrder, ReadsNamesSpeedsWaysAndTimes) {
  made = whole_fabric(GetParam());
  for (const size_t piece : {SIZE_MAX, size_t{1}, size_t{7}}) {
    const Read read = read_all(made.bytes, piece);
    ASSERT_FALSE(read.error) << read.error->message;
    ASSERT_EQ(read.interfaces.size(), 2u);
    EXPECT_EQ(read.interfaces[0].name, "tor1:Ethernet4");
    EXPECT_EQ(read.interfaces[0].description, "link to h1:eth0");
    EXPECT_EQ(read.interfaces[0].speed_bps, 100'000'000'000u);
    EXPECT_EQ(read.interfaces[1].mac, 0x020000000009u);
    ASSERT_EQ(read.frames.size(), 2u);
    EXPECT_EQ(read.frames[0].at_ps, 12'300) << "ticks of 100 ps";
    EXPECT_EQ(read.frames[0].way, Way::kOut);
    EXPECT_EQ(read.frames[0].missed_before, 7u);
    EXPECT_EQ(read.frames[0].bytes, (CaptureBytes{1, 2, 3, 4, 5}));
    EXPECT_EQ(read.frames[1].at_ps, 3'500'000'000'000) << "2^19 of 2^20 ticks a second, 3 s later";
    EXPECT_EQ(read.frames[1].way, Way::kIn);
  }
}

TEST_P(InEitherOrder, CountsInterfacesAnewInEverySection) {
  made.section();
  made.interface(made.part());
  made.frame(0, 1, {1}, made.part());
  made.section();
  CaptureMaker name = made.part();
  name.option(2, "second");
  made.interface(name);
  made.frame(0, 2, {2}, made.part());
  const Read read = read_all(made.bytes);
  ASSERT_FALSE(read.error) << read.error->message;
  ASSERT_EQ(read.frames.size(), 2u);
  EXPECT_EQ(read.frames[1].interface, 1u);
  EXPECT_EQ(read.interfaces[1].name, "second");
  EXPECT_EQ(read.frames[1].at_ps, 2'000'000) << "microseconds, if nothing is said";
}

TEST_P(InEitherOrder, ReadsPcapInMicroAndNanoseconds) {
  for (const auto& [magic, unit_ps] : {std::pair{0xA1B2C3D4U, 1'000'000}, std::pair{0xA1B23C4DU, 1'000}}) {
    CaptureMaker pcap{GetParam()};
    pcap.pcap_header(magic);
    pcap.pcap_frame(1'700'000'000, 999, {1, 2, 3});
    pcap.pcap_frame(1'700'000'001, 0, {4});
    const Read read = read_all(pcap.bytes);
    ASSERT_FALSE(read.error) << read.error->message;
    ASSERT_EQ(read.frames.size(), 2u);
    EXPECT_EQ(read.origin_seconds, 1'700'000'000) << "days since 1970 do not fit into picoseconds";
    EXPECT_EQ(read.frames[0].at_ps, 0);
    EXPECT_EQ(read.frames[1].at_ps, 1'000'000'000'000 - int64_t{999} * unit_ps);
    EXPECT_EQ(read.frames[0].way, Way::kUnknown);
  }
}

TEST_P(InEitherOrder, PassesOverWhatItDoesNotKnow) {
  made.section();
  made.interface(made.part());
  CaptureMaker unknown = made.part();
  unknown.bytes.assign(3'000'000, 0xaa);
  made.block(0x0BADF00D, unknown);
  made.block(3, unknown);  // simple packet
  made.frame(0, 1, {1}, made.part());
  const Read read = read_all(made.bytes);
  ASSERT_FALSE(read.error) << read.error->message;
  EXPECT_EQ(read.frames.size(), 1u);
  EXPECT_EQ(read.untimed, 1u);
}

TEST(CaptureReader, KeepsWhatStandsBeforeTheCut) {
  const CaptureBytes whole = whole_fabric(false).bytes;
  const size_t second = whole.size() - (28 + 4 + 8 + 4);
  for (size_t bytes = 1; bytes < whole.size(); ++bytes) {
    const Read read = read_all({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(bytes)});
    EXPECT_EQ(read.frames.size(), bytes < second ? 0u : 1u) << bytes;
    if (!read.error) continue;  // between two blocks
    EXPECT_TRUE(read.error->cut_short || bytes < 4) << bytes << ": " << read.error->message;
  }
}

// A block that says it has 16 MiB, and has none of that, a part, or all.
TEST(CaptureReader, MakesRoomForWhatThereIsNotForWhatABlockSays) {
  for (const size_t there : {size_t{8}, size_t{100'000}, size_t{CaptureReader::kMaxBlockBytes}}) {
    CaptureMaker made = whole_fabric(false);
    made.put(uint32_t{6});
    made.put(CaptureReader::kMaxBlockBytes);
    made.bytes.resize(made.bytes.size() + there - 8);
    size_t most = 0;
    CaptureReader reader{[&most, read = tests::reading(made.bytes)](std::span<uint8_t> into) {
      most = std::max(most, into.size());
      return read(into);
    }};
    CapturedFrame frame;
    auto got = reader.next(frame);
    while (got && *got) got = reader.next(frame);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().cut_short, there < CaptureReader::kMaxBlockBytes) << got.error().message;
    EXPECT_LE(most, std::max(CaptureInput::kReadBytes, 2 * made.bytes.size()));
  }
}

// What is changed in a good capture, and what is said of it where.
struct Wrong {
  const char* what;
  size_t at;
  std::vector<uint8_t> bytes;
  uint64_t offset;
  const char* said;
};

TEST(CaptureReader, NamesTheOffsetOfEveryWrongLength) {
  CaptureMaker made;
  made.section();  // 0
  CaptureMaker name = made.part();
  name.option(2, "tor1");
  name.number(9, uint8_t{9});
  made.interface(name);  // 28: options at 44 (8 bytes) and 52 (8 bytes)
  CaptureMaker flags = made.part();
  flags.number(2, uint32_t{1});
  made.frame(0, 5, {1, 2, 3, 4}, flags);  // 64: frame at 92, options at 96
  ASSERT_EQ(made.bytes.size(), 108u);
  ASSERT_FALSE(read_all(made.bytes).error);
  for (const Wrong& it : std::initializer_list<Wrong>{
           {"magic", 0, {9, 9, 9, 9}, 0, "not a capture"},
           {"gzip", 0, {0x1f, 0x8b}, 0, "gzip"},
           {"no byte order", 8, {0, 0, 0, 0}, 8, "byte-order"},
           {"version", 12, {7, 0}, 12, "version 7"},
           {"section of 24", 4, {24, 0, 0, 0}, 4, "at least 28"},
           {"block of 8", 32, {8, 0, 0, 0}, 32, "at least 12"},
           {"block of 37", 32, {37, 0, 0, 0}, 32, "fours"},
           {"block of 4 GiB", 32, {0xfc, 0xff, 0xff, 0xff}, 32, "at most 16 MiB"},
           {"ends differ", 60, {40, 0, 0, 0}, 60, "at its end"},
           {"option too long", 46, {200, 0}, 44, "says 200 bytes"},
           {"resolution of 2 bytes", 54, {2, 0}, 52, "if_tsresol has 2 bytes"},
           {"10^-20 s", 56, {20}, 52, "finer than any clock"},
           {"no such interface", 72, {1, 0, 0, 0}, 72, "not described"},
           {"frame beyond its block", 84, {200, 0, 0, 0}, 84, "a frame of 200 bytes"},
           {"flags of 3 bytes", 98, {3, 0}, 96, "epb_flags has 3 bytes"},
           {"flags of nothing", 98, {0, 0}, 96, "epb_flags has 0 bytes"},
       }) {
    CaptureBytes bytes = made.bytes;
    std::ranges::copy(it.bytes, bytes.begin() + static_cast<ptrdiff_t>(it.at));
    const Read read = read_all(bytes);
    ASSERT_TRUE(read.error) << it.what;
    EXPECT_EQ(read.error->offset, it.offset) << it.what << ": " << read.error->message;
    EXPECT_NE(read.error->message.find(it.said), std::string::npos) << it.what << ": " << read.error->message;
    EXPECT_FALSE(read.error->cut_short) << it.what;
  }
}

// The second frame's, in a capture of two: nobody can tell whose time is wrong, and the first one's counts.
TEST(CaptureReader, LeavesFramesOutThatAre50DaysFromTheOthers) {
  CaptureMaker pcap;
  pcap.pcap_header(0xA1B2C3D4);
  pcap.pcap_frame(5, 0, {1});
  pcap.pcap_frame(1'700'000'000, 0, {2});
  const Read read = read_all(pcap.bytes);
  ASSERT_FALSE(read.error) << read.error->message;
  ASSERT_EQ(read.frames.size(), 1u);
  EXPECT_EQ(read.frames[0].bytes, CaptureBytes{1});
  EXPECT_EQ(read.mistimed, 1u);
}

// Whichever of the first three it is: the others agree.
TEST(CaptureReader, TakesTheTimeOfMostFramesNotOfTheFirst) {
  for (uint8_t wrong = 0; wrong < 5; ++wrong) {
    CaptureMaker pcap;
    pcap.pcap_header(0xA1B2C3D4);
    for (uint8_t i = 0; i < 5; ++i) pcap.pcap_frame(i == wrong ? 0 : 1'700'000'000 + i, 0, {i});
    const Read read = read_all(pcap.bytes);
    ASSERT_FALSE(read.error) << read.error->message;
    ASSERT_EQ(read.frames.size(), 4u) << int{wrong};
    EXPECT_EQ(read.mistimed, 1u);
    EXPECT_EQ(read.origin_seconds, wrong == 0 ? 1'700'000'001 : 1'700'000'000);
    for (const Read::Frame& frame : read.frames) {
      EXPECT_NE(frame.bytes, CaptureBytes{wrong});
      EXPECT_EQ(frame.at_ps, (frame.bytes[0] - (wrong == 0 ? 1 : 0)) * 1'000'000'000'000) << int{wrong};
    }
  }
}

TEST(CaptureReader, LeavesAFrameOutWhoseTimeNoClockHas) {
  CaptureMaker made;
  made.section();
  CaptureMaker late = made.part();
  late.number(14, std::numeric_limits<int64_t>::max());  // if_tsoffset, in seconds
  made.interface(late);
  made.interface(made.part());
  made.frame(0, 2'000'000, {1, 2, 3, 4}, made.part());
  made.frame(1, 7, {5}, made.part());
  const Read read = read_all(made.bytes);
  ASSERT_FALSE(read.error) << read.error->message;
  ASSERT_EQ(read.frames.size(), 1u);
  EXPECT_EQ(read.frames[0].at_ps, 7'000'000);
  EXPECT_EQ(read.mistimed, 1u);
}

// Twice: each block counts from the capture's begin. isb_ifdrop is 5, isb_osdrop 7, isb_ifrecv 4.
TEST_P(InEitherOrder, ReadsWhatWasDroppedAndWhichFilterThereWas) {
  made.section();
  CaptureMaker text = made.part();
  text.option(11, std::string{"\0udp port 4791", 14});
  made.interface(text);
  CaptureMaker program = made.part();
  program.option(11, CaptureBytes{1, 9, 9, 9, 9, 9, 9, 9, 9});
  made.interface(program);
  made.interface(made.part());
  for (const uint64_t dropped : {3, 100'000}) {
    CaptureMaker body = made.part();
    body.put(uint32_t{1});
    body.put(uint64_t{0});
    body.number(4, uint64_t{100'100});
    body.number(5, dropped);
    body.number(7, uint64_t{5});
    made.block(5, body);
  }
  const Read read = read_all(made.bytes);
  ASSERT_FALSE(read.error) << read.error->message;
  ASSERT_EQ(read.interfaces.size(), 3u);
  EXPECT_EQ(read.interfaces[0].filter, "udp port 4791");
  EXPECT_EQ(read.interfaces[1].filter, "?") << "a program of the kernel's filter";
  EXPECT_EQ(read.interfaces[2].filter, "");
  EXPECT_EQ(read.interfaces[0].dropped, 0u);
  EXPECT_EQ(read.interfaces[1].dropped, 100'005u);
  EXPECT_EQ(read.interfaces[1].received, 100'100u);
  EXPECT_FALSE(read.interfaces[0].received) << "it has no statistics";
}

TEST(CaptureReader, NamesThePlaceOfStatisticsThatBelongToNothing) {
  CaptureMaker made;
  made.section();
  made.interface(made.part());
  const size_t at = made.bytes.size();
  CaptureMaker body = made.part();
  body.put(uint32_t{1});
  body.put(uint64_t{0});
  made.block(5, body);
  const Read read = read_all(made.bytes);
  ASSERT_TRUE(read.error);
  EXPECT_EQ(read.error->offset, at + 8);
  EXPECT_NE(read.error->message.find("statistics of interface 1"), std::string::npos);
}

TEST(CaptureReader, ReadsTimesOfEveryDecimalResolutionThatSixtyFourBitsHold) {
  uint64_t half = 0;  // a second's
  for (uint8_t exponent = 1; exponent <= 19; ++exponent) {
    half = exponent == 1 ? 5 : half * 10;
    CaptureMaker made;
    made.section();
    CaptureMaker fine = made.part();
    fine.number(9, exponent);
    made.interface(fine);
    made.frame(0, half, {1, 2, 3, 4}, made.part());
    const Read read = read_all(made.bytes);
    ASSERT_EQ(read.frames.size(), 1u) << int{exponent} << ": " << (read.error ? read.error->message : "");
    EXPECT_EQ(read.frames[0].at_ps, 500'000'000'000) << int{exponent};
  }
}

TEST(CaptureReader, SaysThatAnEmptyFileIsEmpty) {
  const Read read = read_all({});
  ASSERT_TRUE(read.error);
  EXPECT_NE(read.error->message.find("empty"), std::string::npos);
}

}  // namespace
}  // namespace softspine::analysis::storm
