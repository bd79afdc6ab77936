// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/credit.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "dataplane/packet/pfc.hpp"

namespace softspine::dataplane {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr MacAddress kOwnMac{0x02, 0x53, 0x50, 0x00, 0x00, 0x07};

CreditFrame some_frame() {
  CreditFrame frame{.priorities = 0x18, .asks = true, .cell_bytes = 254};
  frame.limit[3] = 0x1234;
  frame.limit[4] = 0xfffe;
  frame.sent[3] = 0x0102;
  frame.sent[4] = 0x8000;
  return frame;
}

// Written out by hand from the layout in the header.
const Bytes kByHand{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0x53, 0x50, 0x00, 0x00, 0x07, 0x88, 0x08, 0xff,
                    0xfe, 0x02, 0x73, 0x70, 0x00, 0x01, 0x01, 0x00, 0xfe, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                    0x12, 0x34, 0xff, 0xfe, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                    0x00, 0x01, 0x02, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x18, 0x00, 0x00, 0x00};

TEST(Credit, IsWrittenAsItsLayoutSaysAndReadBack) {
  Bytes written(mac_control::kFrameBytes, 0xa5);
  write_credit(written.data(), kOwnMac, some_frame());
  EXPECT_EQ(written, kByHand);
  EXPECT_EQ(read_credit(kByHand.data(), mac_control::kFrameBytes), some_frame());
}

TEST(Credit, TakesNoShorterFrameAndNoOtherKind) {
  for (uint32_t bytes = 0; bytes <= kByHand.size(); ++bytes) {
    const Bytes cut{kByHand.begin(),
                    kByHand.begin() + bytes};  // of this size, so that a sanitizer sees a read past its end
    EXPECT_EQ(read_credit(cut.data(), bytes).has_value(), bytes >= 57) << bytes;
  }
  for (const size_t at : {14u, 15u, 16u, 17u, 18u, 19u, 20u}) {
    Bytes other = kByHand;
    other[at] ^= 0x40;
    EXPECT_FALSE(read_credit(other.data(), mac_control::kFrameBytes)) << at;
  }
  Bytes no_cell = kByHand;
  no_cell[22] = no_cell[23] = 0;
  EXPECT_FALSE(read_credit(no_cell.data(), mac_control::kFrameBytes)) << "nothing can be counted in cells of no bytes";
}

TEST(Credit, IsNoPauseToAStationThatKnowsOnlyPauses) {
  const auto frame = read_pfc(kByHand.data(), mac_control::kFrameBytes);
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error(), DropReason::kUnknownMacControl);
}

}  // namespace
}  // namespace softspine::dataplane
