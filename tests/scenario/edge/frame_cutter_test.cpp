// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/frame_cutter.hpp"

#include <gtest/gtest.h>

#include "tests/scenario/edge/tcp_frames.hpp"

namespace softspine::dataplane {
namespace {

using namespace tests;

constexpr uint16_t kMostPayload = 1'448;

VirtioHeader header_for(const TcpFrame& it, uint16_t most = kMostPayload) {
  VirtioHeader header{};
  header.flags = VirtioHeader::kNeedsChecksum;
  header.segments = it.is_ipv6 ? VirtioHeader::kTcp6 : VirtioHeader::kTcp4;
  if ((it.flags & kReduced) != 0) header.segments |= VirtioHeader::kReducedBit;
  header.segment_bytes = most;
  header.checksum_start = l4_offset_of(it);
  header.checksum_offset = 16;
  return header;
}

std::vector<Bytes> frames_cut(const VirtioHeader& header, const Bytes& super) {
  FrameCutter cutter;
  std::vector<Bytes> frames;
  if (!cutter.begin(header, super.data(), static_cast<uint32_t>(super.size()))) return frames;
  const uint32_t most = cutter.most_bytes();
  while (cutter.has_more()) {
    frames.emplace_back(cutter.next_bytes());
    EXPECT_LE(frames.back().size(), most);
    cutter.cut(frames.back().data());
  }
  return frames;
}

std::vector<Bytes> frames_expected(const TcpFrame& whole) {
  std::vector<Bytes> frames;
  for (const TcpFrame& one : segments_of(whole, kMostPayload)) frames.push_back(tcp_frame(one));
  return frames;
}

TEST(FrameCutter, MakesTheFramesOfTheWireByteForByte) {
  for (const bool is_ipv6 : {false, true}) {
    for (const std::optional<uint16_t> tag : {std::optional<uint16_t>{}, std::optional<uint16_t>{0x6064}}) {
      for (const size_t bytes : {1u, 1'448u, 1'449u, 2'896u, 45'001u, 64'000u}) {
        const TcpFrame whole{.is_ipv6 = is_ipv6,
                             .tag = tag,
                             .sequence = 0xffffff00,  // wraps
                             .flags = kAck | kPush | kFin | kReduced,
                             .id = 0xfffe,  // wraps
                             .payload = mixed(bytes)};
        EXPECT_EQ(frames_cut(header_for(whole), unfinished_frame(whole)), frames_expected(whole)) << bytes;
      }
    }
  }
}

TEST(FrameCutter, TakesHeadersWithoutOptions) {
  const TcpFrame whole{.options = {}, .payload = mixed(10'000)};
  EXPECT_EQ(frames_cut(header_for(whole), unfinished_frame(whole)), frames_expected(whole));
}

TEST(FrameCutter, RefusesWhatIsNoTcpSuperFrame) {
  const TcpFrame whole{.payload = mixed(3'000)};
  const Bytes super = unfinished_frame(whole);
  const auto is_refused = [&](auto&& change) {
    VirtioHeader header = header_for(whole);
    Bytes bytes = super;
    change(header, bytes);
    return frames_cut(header, bytes).empty();
  };
  EXPECT_FALSE(is_refused([](auto&, auto&) {}));
  constexpr uint8_t kUdp4 = 3;
  constexpr uint8_t kUdp = 5;
  for (const uint8_t kind : {VirtioHeader::kWhole, kUdp4, kUdp}) {
    EXPECT_TRUE(is_refused([&](auto& header, auto&) { header.segments = kind; })) << int{kind};
  }
  EXPECT_TRUE(is_refused([](auto& header, auto&) { header.flags = 0; }));
  EXPECT_TRUE(is_refused([](auto& header, auto&) { header.segment_bytes = 0; }));
  EXPECT_TRUE(is_refused([](auto& header, auto&) { header.checksum_start = 33; }));
  EXPECT_TRUE(is_refused([](auto& header, auto&) { header.checksum_start = 0xffff; }));
  EXPECT_TRUE(is_refused([](auto&, auto& bytes) { bytes[46] = 0x40; })) << "a TCP header of 16 bytes";
  EXPECT_TRUE(is_refused([](auto&, auto& bytes) { bytes.resize(60); })) << "a header cut short";
  EXPECT_TRUE(is_refused([](auto&, auto& bytes) { bytes.resize(66); })) << "no payload";
}

TEST(FrameCutter, CompletesTheChecksumOfAWholeFrame) {
  for (const size_t bytes : {0u, 1u, 15u, 16u, 17u, 1'448u}) {
    const TcpFrame whole{.is_ipv6 = bytes % 2 == 0, .payload = mixed(bytes)};
    Bytes frame = unfinished_frame(whole);
    ASSERT_TRUE(complete_checksum(frame.data(), static_cast<uint32_t>(frame.size()), l4_offset_of(whole), 16));
    EXPECT_EQ(frame, tcp_frame(whole)) << bytes;
  }
}

TEST(FrameCutter, WritesAZeroUdpChecksumAsOnes) {
  Bytes datagram = join({be16(0), be16(0), be16(0), be16(0xffff)});
  ASSERT_TRUE(complete_checksum(datagram.data(), 8, 0, 6));
  EXPECT_EQ(datagram, join({be16(0), be16(0), be16(0), be16(0xffff)}));
}

TEST(FrameCutter, RefusesAChecksumOutsideTheFrame) {
  Bytes frame(60);
  EXPECT_FALSE(complete_checksum(frame.data(), 60, 50, 9));
  EXPECT_FALSE(complete_checksum(frame.data(), 60, 0xffff, 0xffff));
  EXPECT_TRUE(complete_checksum(frame.data(), 60, 50, 8));
}

}  // namespace
}  // namespace softspine::dataplane
