// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/pfc.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace softspine::dataplane {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr MacAddress kOwn{0x02, 0x53, 0x50, 0x00, 0x00, 0x07};

// Written out by hand from 802.1Qbb: priorities 3 and 4, the longest pause for 3, go on for 4.
const Bytes kXoff3Xon4{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0x53, 0x50, 0x00, 0x00, 0x07, 0x88, 0x08, 0x01,
                       0x01, 0x00, 0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,
                       0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                       0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};

std::expected<PfcFrame, DropReason> read(const Bytes& bytes) {
  return read_pfc(bytes.data(), static_cast<uint32_t>(bytes.size()));
}

TEST(Pfc, IsWrittenByteForByteAsTheStandardHasIt) {
  PfcFrame frame{.enable = 0x18};
  frame.quanta[3] = 0xffff;
  Bytes written(mac_control::kFrameBytes, 0xa5);
  write_pfc(written.data(), kOwn, frame);
  EXPECT_EQ(written, kXoff3Xon4);
}

TEST(Pfc, ReadsWhatItWrites) {
  PfcFrame frame{.enable = 0xa7};
  for (uint32_t i = 0; i < kPriorities; ++i) frame.quanta[i] = static_cast<uint16_t>(0x0101 * (i + 1));
  Bytes written(mac_control::kFrameBytes);
  write_pfc(written.data(), kOwn, frame);
  EXPECT_EQ(read(written), frame);
}

TEST(Pfc, TakesAnyFrameWhoseFieldsAreThereAndNoShorterOne) {
  for (uint32_t bytes = 0; bytes <= kXoff3Xon4.size(); ++bytes) {
    // A copy of exactly this size, so that a read past its end is seen by a sanitizer.
    const Bytes cut{kXoff3Xon4.begin(), kXoff3Xon4.begin() + bytes};
    const auto frame = read(cut);
    ASSERT_EQ(frame.has_value(), bytes >= 34) << bytes;
    if (!frame) {
      ASSERT_EQ(frame.error(), DropReason::kTruncated) << bytes;
    }
  }
}

TEST(Pfc, IgnoresReservedBitsPadAndTimesThatAreNotEnabled) {
  Bytes odd = kXoff3Xon4;
  odd[16] = 0xff;
  odd[59] = 0x77;
  odd[18] = 0x12;  // time of priority 0, which the vector does not name
  const auto frame = read(odd);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->enable, 0x18);
  EXPECT_EQ(frame->quanta[3], 0xffff);
  EXPECT_EQ(frame->quanta[4], 0);
}

TEST(Pfc, ReadsAClassicPauseAsAllPriorities) {
  Bytes pause(kXoff3Xon4.begin(), kXoff3Xon4.begin() + 14);
  pause.insert(pause.end(), {0x00, 0x01, 0x12, 0x34});
  PfcFrame all = PfcFrame::of(0xff, 0x1234);
  all.is_pause = true;
  EXPECT_EQ(read(pause), all);
  pause.pop_back();
  EXPECT_EQ(read(pause).error(), DropReason::kTruncated);
}

// By hand from 802.3, annex 31B: opcode 0x0001, then pause_time, then zeros up to the shortest frame.
TEST(Pfc, WritesAPauseByteForByteAsTheStandardHasIt) {
  Bytes by_hand{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0x53, 0x50,
                0x00, 0x00, 0x07, 0x88, 0x08, 0x00, 0x01, 0xff, 0xff};
  by_hand.resize(60);
  Bytes written(mac_control::kFrameBytes, 0xa5);
  write_pause(written.data(), kOwn, 0xffff);
  EXPECT_EQ(written, by_hand);
}

TEST(Pfc, RefusesEveryOtherOpcode) {
  Bytes frame = kXoff3Xon4;
  uint32_t taken = 0;
  for (uint32_t opcode = 0; opcode <= 0xffff; ++opcode) {
    store16(frame.data() + 14, static_cast<uint16_t>(opcode));
    const auto result = read(frame);
    taken += result.has_value();
    if (!result) {
      ASSERT_EQ(result.error(), DropReason::kUnknownMacControl) << opcode;
    }
  }
  EXPECT_EQ(taken, 2u);
}

}  // namespace
}  // namespace softspine::dataplane
