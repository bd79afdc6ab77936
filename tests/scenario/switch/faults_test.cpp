// SPDX-License-Identifier: Apache-2.0
// A faulty frame ends with the name of its fault, and the frame behind it is none the worse.
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

const Bytes kDistant4 = ip4("10.1.7.7");
const Bytes kHere4 = ip4("10.1.0.1");
const Bytes kDistant6 = ip6(0x101, 7);

struct Fault {
  const char* reason;
  const char* what;
  Bytes frame;
  uint32_t frame_bytes = 0;
};

Bytes cut(const Bytes& bytes, size_t length) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)};
}
Bytes changed(Bytes bytes, size_t at, uint8_t value) {
  bytes[at] = value;
  return bytes;
}
// With a checksum that is right, so that only the one thing is wrong.
Bytes summed(Bytes packet) {
  packet = with_word(packet, 10, 0);
  return with_word(packet, 10, internet_checksum(cut(packet, 20)));
}
Bytes v4(const Bytes& packet) {
  return ethernet_frame(kRouter, kPeer, 0x0800, packet);
}
Bytes v6(const Bytes& packet) {
  return ethernet_frame(kRouter, kPeer, 0x86dd, packet);
}
Bytes mac_control(const Bytes& payload) {
  return ethernet_frame({0x01, 0x80, 0xc2, 0, 0, 1}, kPeer, 0x8808, payload);
}

std::vector<Fault> faults() {
  const Bytes good4 = ipv4_packet({.from = kDistant4, .to = kHere4}, counting(30));
  const Bytes good6 = ipv6_packet({.from = kDistant6, .to = ip6(0x101, 9)}, counting(30));
  std::vector<Fault> all{
      {"truncated", "no bytes", {}},
      {"truncated", "no type", cut(v4(good4), 13)},
      {"truncated", "half a tag", cut(tagged_frame(kRouter, kPeer, 10, 0x0800, good4), 17)},
      {"truncated", "half an IPv4 header", cut(v4(good4), 14 + 19)},
      {"truncated", "options that are not there", cut(v4(changed(good4, 0, 0x4f)), 14 + 30)},
      {"truncated", "half an IPv6 header", cut(v6(good6), 14 + 39)},
      {"bad_version", "5 in IPv4", v4(changed(good4, 0, 0x55))},
      {"bad_version", "a header of 16 bytes", v4(changed(good4, 0, 0x44))},
      {"bad_version", "4 in IPv6", v6(changed(good6, 0, 0x40))},
      {"bad_length", "longer than the frame", v4(summed(with_word(good4, 2, 51)))},
      {"bad_length", "shorter than its header", v4(summed(with_word(good4, 2, 19)))},
      {"bad_length", "IPv6 longer than the frame", v6(with_word(good6, 4, 31))},
      {"bad_checksum", "one bit", v4(changed(good4, 11, static_cast<uint8_t>(good4[11] ^ 1)))},
      {"bad_source", "IPv6 multicast", v6(changed(good6, 8, 0xff))},
      {"unknown_mac_control", "opcode 5", mac_control(join({be16(5), Bytes(44, 0)}))},
      {"truncated", "no opcode", mac_control({1})},
      {"truncated", "PFC without its last time", mac_control(join({be16(0x0101), be16(0x00ff), Bytes(15, 0)}))},
      {"pfc_consumed", "PFC", mac_control(join({be16(0x0101), be16(0x0018), Bytes(42, 0xff)}))},
      {"pfc_consumed", "pause", mac_control(join({be16(0x0001), be16(0xffff), Bytes(42, 0)}))},
      {"not_for_us", "another station", ethernet_frame(station(9), kPeer, 0x0800, good4)},
      {"vlan_not_allowed", "a tag on a routed port", tagged_frame(kRouter, kPeer, 10, 0x0800, good4)},
      {"consumed", "multicast", ethernet_frame({1, 0, 0x5e, 0, 0, 5}, kPeer, 0x0800, good4)},
      {"unsupported", "LACP", ethernet_frame({1, 0x80, 0xc2, 0, 0, 2}, kPeer, 0x8809, counting(46))},
      {"oversize", "one byte too long", v4(good4), 9216 + 14 + 4 + 1},
  };
  for (const char* source : {"224.0.0.1", "127.0.0.1", "0.0.0.0", "255.255.255.255"}) {
    all.push_back({"bad_source", source, v4(ipv4_packet({.from = ip4(source), .to = kHere4}, counting(30)))});
  }
  return all;
}

template <typename Role>
class Faults : public testing::Test {
 protected:
  Bench<Role> bench_;
};
using Roles = testing::Types<pipelines::Tor, pipelines::Aggregation, pipelines::Core>;
TYPED_TEST_SUITE(Faults, Roles);

TYPED_TEST(Faults, EachHasItsNameAndCostsThatFrameOnly) {
  const Bytes good = ipv4_packet({.from = kDistant4, .to = ip4("10.4.0.1")}, counting(30));
  for (const Fault& fault : faults()) {
    SCOPED_TRACE(fault.what);
    this->bench_.send(4, fault.frame, fault.frame_bytes);
    this->bench_.send(4, v4(good));
    const Frames out = this->bench_.run();
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].port, 5);
    EXPECT_EQ(this->bench_.drops(), (Drops{{fault.reason, 1}}));
  }
}

TYPED_TEST(Faults, PaddingBehindTheDatagramIsNone) {
  const auto packet = [](uint8_t ttl) {
    return ipv4_packet({.from = kDistant4, .to = ip4("10.4.0.1"), .ttl = ttl}, {});
  };
  EXPECT_EQ(this->bench_.exchange(4, padded(v4(packet(7)))),
            (Frames{{5, padded(ethernet_frame(station(105), kRouter, 0x0800, packet(6)))}}));
}

TYPED_TEST(Faults, TheSecondOfTwoTagsIsNobodysType) {
  const Bytes inner = join({be16(10), be16(0x0800), counting(46)});
  EXPECT_EQ(this->bench_.exchange(4, ethernet_frame(kRouter, kPeer, 0x8100, join({be16(10), be16(0x8100), inner}))),
            Frames{});
  EXPECT_EQ(this->bench_.drops(), (Drops{{"vlan_not_allowed", 1}}));
}

}  // namespace
}  // namespace softspine::tests
