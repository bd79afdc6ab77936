// SPDX-License-Identifier: Apache-2.0
// Open vSwitch's dp_hash: values that a running OVS 3.1 showed for packets (`ovs-appctl dpctl/dump-flows`), those of
// CRC-32C by OVS's own lib/hash.h compiled with -msse4.2, and its tables by real numbers. tests/wire/command/
// ovs_dp_hash.py compares with OVS itself.
#include <gtest/gtest.h>

#include <ostream>

#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/hashing/ovs_buckets.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/hashing/hand_built.hpp"

namespace softspine::dataplane {
namespace {

using namespace tests::by_hand;
using enum HashAlgorithm;

// 10.0.1.2 or fd00:0:0:1::2 to the same of the second subnet; ports 50000 and 4791, or an echo request.
Bytes packet_of(bool is_ipv6, uint8_t protocol, uint16_t fragment, uint32_t layer4_bytes) {
  Bytes layer4 = protocol == 1 ? Bytes{8, 0} : Bytes{0xc3, 0x50, 0x12, 0xb7};
  layer4.resize(layer4_bytes, 0);
  Bytes out = {2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0xfe};
  append(out, be(is_ipv6 ? 0x86dd : 0x0800, 2));
  if (is_ipv6) {
    append(out, be(6ULL << 28, 4));
    append(out, be(layer4_bytes, 2));
    append(out, {protocol, 64});
    for (uint8_t subnet = 1; subnet <= 2; ++subnet)
      append(out, {0xfd, 0, 0, 0, 0, 0, 0, subnet, 0, 0, 0, 0, 0, 0, 0, 2});
  } else {
    append(out, {0x45, 0});
    append(out, be(20 + layer4_bytes, 2));
    append(out, be(1, 2));
    append(out, be(fragment, 2));
    append(out, {64, protocol, 0, 0, 10, 0, 1, 2, 10, 0, 2, 2});
  }
  append(out, layer4);
  return out;
}

struct Sent {
  const char* name;
  bool is_ipv6;
  uint8_t protocol;
  uint16_t fragment;
  uint32_t layer4_bytes;
  uint32_t sym;     // SYM_L4, basis 0
  uint32_t sym_77;  // basis 77
  uint32_t l4_77;   // L4, basis 77
  friend std::ostream& operator<<(std::ostream& out, const Sent& it) { return out << it.name; }
};

HeaderView view_of(const Sent& sent, const Bytes& frame) {
  const bool is_whole = sent.fragment == 0;
  const auto flags = static_cast<uint8_t>((sent.is_ipv6 ? kIsIpv6 : kIsIpv4) | (is_whole ? 0 : kIsFragment) |
                                          (is_whole && sent.protocol == 17 ? kIsUdp : 0) |
                                          (is_whole && sent.protocol == 6 ? kIsTcp : 0));
  const auto bytes = static_cast<uint32_t>(frame.size());
  return {.frame = frame.data(),
          .stored_bytes = bytes,
          .frame_bytes = bytes,
          .l3_offset = 14,
          .l4_offset = static_cast<uint16_t>(sent.is_ipv6 ? 54 : 34),
          .in_port = 0,
          .vlan = 0,
          .ether_type = static_cast<uint16_t>(sent.is_ipv6 ? 0x86dd : 0x0800),
          .flags = flags,
          .ip_protocol = sent.protocol};
}

class OvsHash : public testing::TestWithParam<Sent> {};

TEST_P(OvsHash, IsWhatOvsShowed) {
  const Sent& it = GetParam();
  const Bytes frame = packet_of(it.is_ipv6, it.protocol, it.fragment, it.layer4_bytes);
  const auto hash_of = [&](HashAlgorithm algorithm, uint32_t basis) {
    const EcmpHash hash{HashConfig{.model = HashModel::kOvs, .algorithm = algorithm, .seed = basis}};
    HashKey key;
    hash.build(view_of(it, frame), key);
    return hash.of(key);
  };
  EXPECT_EQ(hash_of(kOvsSymL4, 0), it.sym);
  EXPECT_EQ(hash_of(kOvsSymL4, 77), it.sym_77);
  EXPECT_EQ(hash_of(kOvsL4, 77), it.l4_77);
}

INSTANTIATE_TEST_SUITE_P(
    All, OvsHash,
    testing::Values(Sent{"udp", false, 17, 0, 28, 0x5e5efb0e, 0x25ac236f, 0xeb739548},
                    Sent{"tcp", false, 6, 0, 40, 0xe87a8bb8, 0xe34fb529, 0x86910999},
                    Sent{"sctp", false, 132, 0, 28, 0xe8382b6a, 0x68cda6de, 0x9697c22d},
                    Sent{"icmp", false, 1, 0, 22, 0xe52e2199, 0xdc29e8c3, 0xde0d55c1},
                    Sent{"gre", false, 47, 0, 20, 0x3fe5106e, 0xaa7aa384, 0x1ad4943e},
                    Sent{"tcp over IPv6", true, 6, 0, 40, 0xf0f22af9, 0xf9d76002, 0xbf01edc0},
                    Sent{"udp over IPv6", true, 17, 0, 28, 0x31466d85, 0x98765616, 0x749ee71c},
                    Sent{"first fragment of udp", false, 17, 0x2000, 28, 0x5e5efb0e, 0x25ac236f, 0xeb739548},
                    Sent{"later fragment of udp", false, 17, 0x2001, 28, 0x5e5efb0e, 0x25ac236f, 0x6e31c3db},
                    Sent{"first fragment of tcp", false, 6, 0x2000, 40, 0xa1317998, 0x6d25770b, 0x86910999}));

TEST(OvsHashByCrc32c, IsThatOfOvsCompiledForIt) {
  const auto hash_of = [](bool is_ipv6, uint8_t protocol, HashAlgorithm algorithm, uint32_t basis) {
    const Sent sent{"", is_ipv6, protocol, 0, 40, 0, 0, 0};
    const Bytes frame = packet_of(is_ipv6, protocol, 0, 40);
    const EcmpHash hash{HashConfig{.model = HashModel::kOvs, .algorithm = algorithm, .seed = basis}};
    HashKey key;
    hash.build(view_of(sent, frame), key);
    return hash.of(key);
  };
  EXPECT_EQ(hash_of(false, 17, kOvsL4Crc32c, 0), 0xf538e0acu);
  EXPECT_EQ(hash_of(false, 17, kOvsSymL4Crc32c, 0), 0x723c5817u);
  EXPECT_EQ(hash_of(false, 6, kOvsL4Crc32c, 77), 0xb773948fu);
  EXPECT_EQ(hash_of(false, 6, kOvsSymL4Crc32c, 77), 0x9d90c03eu);
  EXPECT_EQ(hash_of(true, 6, kOvsL4Crc32c, 77), 0x58e4e335u);
  EXPECT_EQ(hash_of(true, 6, kOvsSymL4Crc32c, 77), 0xff4f913bu);
  EXPECT_EQ(hash_of(true, 17, kOvsL4Crc32c, 0), 0x4f2cea79u);
  EXPECT_EQ(hash_of(true, 17, kOvsSymL4Crc32c, 0), 0x64850479u);
}

// A frame that ends inside of layer 4's header has no ports for OVS: their place is hashed as zeros.
TEST(OvsHashOfCutPackets, TakesNoPortsThatAreNotWhole) {
  const Sent sent{"", false, 6, 0, 12, 0, 0, 0};
  const EcmpHash hash{HashConfig{.model = HashModel::kOvs, .algorithm = kOvsL4}};
  HashKey key;
  Bytes frame = packet_of(false, 6, 0, 12);
  frame.resize(60, 0xee);  // what the wire fills up with
  hash.build(view_of(sent, frame), key);
  EXPECT_EQ(Bytes(key.bytes(), key.bytes() + 16), (Bytes{10, 0, 1, 2, 10, 0, 2, 2, 6, 0, 0, 1, 0, 0, 0, 0}));
}

// Just whole, and one byte short of it. Of a payload that is left out of memory the ports are there all the same.
TEST(OvsHashOfCutPackets, TakesPortsOfAHeaderThatIsJustWhole) {
  const EcmpHash hash{HashConfig{.model = HashModel::kOvs, .algorithm = kOvsL4}};
  const auto ports_of = [&](uint8_t protocol, uint32_t layer4_bytes, uint32_t stored) {
    const Sent sent{"", false, protocol, 0, layer4_bytes, 0, 0, 0};
    const Bytes frame = packet_of(false, protocol, 0, layer4_bytes);
    HeaderView view = view_of(sent, frame);
    view.stored_bytes = 34 + stored;
    HashKey key;
    hash.build(view, key);
    return Bytes(key.bytes() + 12, key.bytes() + 16);
  };
  const Bytes ports{0xc3, 0x50, 0x12, 0xb7};
  const Bytes none(4);
  EXPECT_EQ(ports_of(6, 20, 20), ports);
  EXPECT_EQ(ports_of(6, 19, 19), none);
  EXPECT_EQ(ports_of(17, 8, 8), ports);
  EXPECT_EQ(ports_of(17, 7, 7), none);
  EXPECT_EQ(ports_of(17, 8, 4), ports);
  EXPECT_EQ(ports_of(17, 8, 3), none);
}

// What is shown of a packet of GRE: its addresses and no ports.
TEST(OvsHashOfPacketsWithoutPorts, IsOfTheirAddresses) {
  const Sent sent{"", false, 47, 0, 40, 0, 0, 0};
  const Bytes frame = packet_of(false, 47, 0, 40);
  const KeyLayout layout{HashConfig{.model = HashModel::kOvs, .algorithm = kOvsL4}, false};
  std::vector<HashField> there;
  for (const KeyPart& part : layout.parts()) {
    if (layout.has(part, view_of(sent, frame))) there.push_back(part.field);
  }
  EXPECT_EQ(there, (std::vector{kSrcIp, kDstIp, kIpProtocol}));
}

// Two pairs of hosts whose addresses add up to the same, both ways: one key, so that nobody takes them for two.
TEST(OvsHashOfSums, IsOneKeyForWhatHashesAlike) {
  const Sent sent{"", false, 6, 0, 40, 0, 0, 0};
  const EcmpHash hash{HashConfig{.model = HashModel::kOvs, .algorithm = kOvsSymL4}};
  Bytes frame = packet_of(false, 6, 0, 40);
  HashKey key;
  hash.build(view_of(sent, frame), key);
  const Bytes first(key.bytes(), key.bytes() + 16);
  EXPECT_EQ(first, (Bytes{0, 0, 3, 0, 0, 0, 0, 0, 6, 0, 0, 1, 0xd1, 0xe7, 0, 0}));
  for (const size_t subnet : {28, 32}) frame[subnet] ^= 0x40;  // of source and destination
  std::swap_ranges(frame.begin() + 34, frame.begin() + 36, frame.begin() + 36);
  hash.build(view_of(sent, frame), key);
  EXPECT_EQ(Bytes(key.bytes(), key.bytes() + 16), first);
}

// Webster's method in real numbers, and the size as OVS rounds it up.
TEST(OvsTable, DealsValuesOutAsItsSourceDoes) {
  Rng rng{tests::seed(), 91};
  for (int i = 0; i < 3'000; ++i) {
    std::vector<uint32_t> weights(1 + rng.below(70));
    for (uint32_t& weight : weights) weight = static_cast<uint32_t>(1 + rng.below(i % 3 == 0 ? 1 : 30));
    double sum = 0;
    double least = 1e9;
    for (const uint32_t weight : weights) sum += weight, least = std::min<double>(least, weight);
    double size = 16;
    while (size < sum / least || size < std::min<double>(4.0 * static_cast<double>(weights.size()), 256)) size *= 2;
    ASSERT_EQ(static_cast<double>(ovs_hash_values(weights)), size);
    if (size > kMaxOvsHashValues) continue;
    std::vector<double> values(weights.begin(), weights.end());
    std::vector<uint32_t> hits(weights.size());
    for (const uint32_t owner : ovs_owners(weights)) {
      const auto first_best = static_cast<uint32_t>(std::ranges::max_element(values) - values.begin());
      ASSERT_EQ(owner, first_best);
      values[owner] = weights[owner] / (2.0 * ++hits[owner] + 1);
    }
  }
}

}  // namespace
}  // namespace softspine::dataplane
