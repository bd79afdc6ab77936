// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/wire.hpp"

#include <gtest/gtest.h>

namespace softspine::dataplane {
namespace {

constexpr uint8_t kCounting[] = {0xff, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x11};

TEST(Wire, LoadsAreBigEndianAtAnyAlignment) {
  EXPECT_EQ(load16(kCounting + 1), 0x0123);
  EXPECT_EQ(load24(kCounting + 1), 0x012345u);
  EXPECT_EQ(load32(kCounting + 1), 0x01234567u);
  EXPECT_EQ(load48(kCounting + 1), 0x0123456789abu);
  EXPECT_EQ(load64(kCounting + 1), 0x0123456789abcdefu);
}

TEST(Wire, StoresWriteTheirOwnBytesOnly) {
  const auto stored = [](auto store, auto value, uint32_t bytes) {
    std::array<uint8_t, 10> at{};
    at.fill(0xee);
    store(at.data() + 1, value);
    EXPECT_EQ(at[0], 0xee);
    for (uint32_t i = 0; i < bytes; ++i) EXPECT_EQ(at[1 + i], kCounting[1 + i]) << bytes << " bytes, byte " << i;
    EXPECT_EQ(at[1 + bytes], 0xee);
  };
  stored(store16, uint16_t{0x0123}, 2);
  stored(store24, 0x012345u, 3);
  stored(store32, 0x01234567u, 4);
  stored(store48, uint64_t{0x0123456789ab}, 6);
  stored(store64, uint64_t{0x0123456789abcdef}, 8);
}

TEST(Wire, AddressesKeepTheirOrder) {
  std::array<uint8_t, 16> at{};
  store_mac(at.data(), kMacControlMac);
  EXPECT_EQ(load48(at.data()), 0x0180c2000001u);
  EXPECT_EQ(load_mac(at.data()), kMacControlMac);
  EXPECT_EQ(load_ipv6(at.data()), at);
}

TEST(Wire, TheDestinationQpLiesAtOffset13OfLayer4) {
  EXPECT_EQ(udp::kBytes + bth::kDestinationQp, 13u);  // what a UDF of base L4, offset 13, length 3 takes
}

}  // namespace
}  // namespace softspine::dataplane
