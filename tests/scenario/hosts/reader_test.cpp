// SPDX-License-Identifier: Apache-2.0
// Which RoCEv2 packets a host reads, and what it reads in them: InfiniBand's table of opcodes, frames built by hand.
#include <gtest/gtest.h>

#include "dataplane/packet/icrc.hpp"
#include "testbeds/hosts/roce_reader.hpp"
#include "tests/scenario/edge/nic_frames.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::DropReason;
using dataplane::kMaxIcrcZeros;
using dataplane::rc_frame;
using tests::Bytes;

FrameBytes whole(const Bytes& frame) {
  const auto bytes = static_cast<uint32_t>(frame.size());
  return {frame.data(), bytes, bytes};
}
Bytes with_good_sums(Bytes frame) {
  Bytes head(frame.begin() + 14, frame.begin() + 34);
  head[10] = head[11] = 0;
  head = tests::with_word(head, 10, tests::internet_checksum(head));
  std::copy(head.begin(), head.end(), frame.begin() + 14);
  const Bytes icrc = dataplane::icrc_due(frame);
  std::copy(icrc.begin(), icrc.end(), frame.end() - 4);
  return frame;
}

// Annex A17 and table 35 of the architecture: what stands between BTH and payload, and where in a message it is.
struct Row {
  uint8_t opcode;
  uint32_t extension;
  bool starts;
  bool ends;
  bool is_response;
};
constexpr Row kKnown[] = {{0x00, 0, true, false, false},  {0x01, 0, false, false, false}, {0x02, 0, false, true, false},
                          {0x03, 4, false, true, false},  {0x04, 0, true, true, false},   {0x05, 4, true, true, false},
                          {0x06, 16, true, false, false}, {0x07, 0, false, false, false}, {0x08, 0, false, true, false},
                          {0x09, 4, false, true, false},  {0x0a, 16, true, true, false},  {0x0b, 20, true, true, false},
                          {0x11, 4, false, false, true},  {0x81, 16, false, false, true}};

TEST(RoceReader, ReadsTheOpcodesOfAReliableConnectionAsTheArchitectureHasThem) {
  for (const Row& row : kKnown) {
    const Bytes frame = rc_frame({.opcode = row.opcode, .qp = 0x123456, .psn = 0xfedcba, .payload = 100});
    ASSERT_TRUE(claims_roce(whole(frame)));
    const auto read = read_roce(whole(frame));
    ASSERT_TRUE(read) << int{row.opcode};
    EXPECT_EQ(read->opcode, row.opcode);
    EXPECT_EQ(read->destination_qp, 0x123456u);
    EXPECT_EQ(read->psn, 0xfedcbau);
    EXPECT_EQ(read->payload_bytes, 100 - row.extension) << int{row.opcode};
    EXPECT_EQ(read->starts_message, row.starts) << int{row.opcode};
    EXPECT_EQ(read->ends_message, row.ends) << int{row.opcode};
    EXPECT_EQ(read->is_response, row.is_response) << int{row.opcode};
    EXPECT_FALSE(read->is_marked);
  }
}

TEST(RoceReader, RefusesEveryOtherOpcode) {
  for (int opcode = 0; opcode < 256; ++opcode) {
    const bool known = std::ranges::count(kKnown, opcode, &Row::opcode) != 0;
    const auto read = read_roce(whole(rc_frame({.opcode = static_cast<uint8_t>(opcode), .payload = 100})));
    EXPECT_EQ(read.has_value(), known) << opcode;
    if (!known) {
      EXPECT_EQ(read.error(), DropReason::kUnsupported) << opcode;
    }
  }
}

TEST(RoceReader, AFrameThatIsNoRoceClaimsNothing) {
  const Bytes good = rc_frame({.payload = 64});
  ASSERT_TRUE(claims_roce(whole(good)));
  const auto changed = [&](size_t at, uint8_t byte) {
    Bytes frame = good;
    frame[at] = byte;
    return frame;
  };
  EXPECT_FALSE(claims_roce(whole(changed(14, 0x46)))) << "options";
  EXPECT_FALSE(claims_roce(whole(changed(23, 6)))) << "TCP";
  EXPECT_FALSE(claims_roce(whole(changed(20, 0x20)))) << "a first fragment";
  EXPECT_FALSE(claims_roce(whole(changed(21, 0x01)))) << "a later fragment";
  EXPECT_FALSE(claims_roce(whole(changed(37, 0xb8)))) << "another port";
  EXPECT_FALSE(claims_roce(whole(changed(12, 0x86)))) << "another EtherType";
  // Ethernet, IPv4, UDP, BTH and ICRC: 58 bytes.
  EXPECT_TRUE(claims_roce({good.data(), 58, 58}));
  EXPECT_FALSE(claims_roce({good.data(), 57, 57}));
}

TEST(RoceReader, SaysWhyAPacketIsNotToBeBelieved) {
  const Bytes good = rc_frame({.opcode = 0x04, .payload = 64});
  const auto reason_of = [](const Bytes& frame) {
    const auto read = read_roce(whole(frame));
    return read ? DropReason::kCount : read.error();
  };
  const auto set = [&](size_t at, uint8_t byte) {
    Bytes frame = good;
    frame[at] = byte;
    return frame;
  };
  EXPECT_EQ(reason_of(good), DropReason::kCount);
  EXPECT_EQ(reason_of(set(24, 0)), DropReason::kBadChecksum);
  EXPECT_EQ(reason_of(set(60, static_cast<uint8_t>(good[60] ^ 1))), DropReason::kBadIcrc);
  EXPECT_EQ(reason_of(with_good_sums(set(39, static_cast<uint8_t>(good[39] + 4)))), DropReason::kBadLength)
      << "UDP's length is not the packet's";
  EXPECT_EQ(reason_of(with_good_sums(set(17, static_cast<uint8_t>(good[17] + 1)))), DropReason::kTruncated)
      << "longer than the frame";
  EXPECT_EQ(reason_of(with_good_sums(set(43, 0x01))), DropReason::kUnsupported) << "transport header version 1";
  Bytes padded = with_good_sums(set(43, 0x30));  // three bytes of padding
  const auto read = read_roce(whole(padded));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->payload_bytes, 61u);
}

// SEND ONLY with zeros for a payload, which are left out: its headers, and an ICRC over all of it.
TEST(RoceReader, TakesAsManyLeftOutZerosAsTheLargestFrameHasAndNoMore) {
  for (const uint32_t zeros : {0u, 1u, 64u, kMaxIcrcZeros, kMaxIcrcZeros + 1, kMaxIcrcZeros + 100}) {
    Bytes frame = rc_frame({.opcode = 0x04, .payload = zeros});
    std::fill(frame.end() - 4 - zeros, frame.end() - 4, 0);
    frame = with_good_sums(frame);
    const auto frame_bytes = static_cast<uint32_t>(frame.size());
    frame.erase(frame.end() - 4 - zeros, frame.end() - 4);
    const auto read = read_roce({frame.data(), frame_bytes - zeros, frame_bytes});
    ASSERT_EQ(read.has_value(), zeros <= kMaxIcrcZeros) << zeros;
    if (read) {
      EXPECT_EQ(read->payload_bytes, zeros);
    } else {
      EXPECT_EQ(read.error(), DropReason::kBadLength);
    }
  }
}

}  // namespace
}  // namespace softspine::testbeds
