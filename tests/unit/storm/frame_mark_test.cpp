// SPDX-License-Identifier: Apache-2.0
// What a router changes of a packet does not change its mark; anything else does.
#include "analysis/storm/frame_mark.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace softspine::analysis::storm {
namespace {

using Bytes = std::vector<uint8_t>;

// From 02:…:01 to 02:…:02, its IP header and more behind it counted up from 1.
Bytes frame_of(uint16_t type, size_t bytes) {
  Bytes out(12);
  out[0] = out[6] = 2;
  out[5] = 2;
  out[11] = 1;
  out.push_back(static_cast<uint8_t>(type >> 8));
  out.push_back(static_cast<uint8_t>(type));
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<uint8_t>(i + 1));
  return out;
}

TEST(FrameMark, HasTheAddressesAndTheHopsThatAreLeft) {
  const auto v4 = mark_of(frame_of(0x0800, 40));
  ASSERT_TRUE(v4);
  EXPECT_EQ(v4->hops_left, 9) << "the TTL is the ninth byte";
  EXPECT_EQ(v4->source, 0x020000000001u);
  EXPECT_EQ(v4->destination, 0x020000000002u);
  EXPECT_EQ(mark_of(frame_of(0x86dd, 60))->hops_left, 8);
}

TEST(FrameMark, IsOfRoutedPacketsAlone) {
  Bytes to_group = frame_of(0x0800, 40);
  to_group[0] |= 1;
  EXPECT_FALSE(mark_of(to_group));
  EXPECT_FALSE(mark_of(frame_of(0x0806, 60))) << "ARP";
  EXPECT_FALSE(mark_of(frame_of(0x0800, 39)));
  EXPECT_FALSE(mark_of(frame_of(0x86dd, 59)));
  EXPECT_FALSE(mark_of({}));
}

TEST(FrameMark, PassesTagsOver) {
  const Bytes plain = frame_of(0x0800, 40);
  Bytes tagged = plain;
  tagged.insert(tagged.begin() + 12, {0x81, 0x00, 0x00, 0x64});
  EXPECT_EQ(mark_of(tagged)->key, mark_of(plain)->key);
  tagged.insert(tagged.begin() + 12, {0x88, 0xa8, 0x00, 0x64});
  EXPECT_EQ(mark_of(tagged)->key, mark_of(plain)->key);
  for (const uint8_t type : {uint8_t{0x91}, uint8_t{0x92}}) {
    tagged.insert(tagged.begin() + 12, {type, 0x00, 0x00, 0x64});
    EXPECT_EQ(mark_of(tagged)->key, mark_of(plain)->key);
  }
  tagged.insert(tagged.begin() + 12, {0x81, 0x00, 0x00, 0x64});
  EXPECT_FALSE(mark_of(tagged)) << "five tags";
}

// TOS, TTL and checksum of IPv4; traffic class and hop limit of IPv6.
TEST(FrameMark, IsTheSameBehindARouterAndNoOtherPacketHasIt) {
  for (const auto& [type, bytes, changed] : {std::tuple{uint16_t{0x0800}, size_t{40}, std::set<size_t>{1, 8, 10, 11}},
                                             {uint16_t{0x86dd}, size_t{60}, std::set<size_t>{7}}}) {
    const Bytes frame = frame_of(type, bytes);
    for (size_t at = 0; at < bytes; ++at) {
      Bytes other = frame;
      other[14 + at] ^= 0x5a;
      if (type == 0x86dd && at < 2) continue;
      EXPECT_EQ(mark_of(other)->key == mark_of(frame)->key, changed.contains(at)) << "byte " << at;
    }
    Bytes longer = frame;
    longer.push_back(7);
    EXPECT_EQ(mark_of(longer)->key, mark_of(frame)->key) << "what is behind it";
  }
  const Bytes frame = frame_of(0x86dd, 60);
  for (const auto& [at, bits, is_same] :
       {std::tuple{14, 0x0f, true}, {14, 0x10, false}, {15, 0xf0, true}, {15, 0x01, false}}) {
    Bytes other = frame;
    other[static_cast<size_t>(at)] ^= static_cast<uint8_t>(bits);
    EXPECT_EQ(mark_of(other)->key == mark_of(frame)->key, is_same) << at << " " << bits;
  }
}

}  // namespace
}  // namespace softspine::analysis::storm
