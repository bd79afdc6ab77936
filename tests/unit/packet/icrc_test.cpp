// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/icrc.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "dataplane/units/rng.hpp"

namespace softspine::dataplane {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes from_hex(std::string_view hex) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoi(std::string{hex.substr(i, 2)}, nullptr, 16)));
  }
  return bytes;
}

// The definition, bit by bit, over whole bytes.
uint32_t slow_icrc(Bytes packet, IpVersion version) {
  const bool v4 = version == IpVersion::k4;
  const uint32_t l4 = v4 ? 20 : 40;
  if (v4) {
    packet[1] = packet[8] = packet[10] = packet[11] = 0xff;
  } else {
    packet[0] |= 0x0f;
    packet[1] = packet[2] = packet[3] = packet[7] = 0xff;
  }
  packet[l4 + 6] = packet[l4 + 7] = packet[l4 + 8 + 4] = 0xff;
  packet.insert(packet.begin(), 8, 0xff);
  uint32_t crc = 0xffffffff;
  for (const uint8_t byte : packet) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
  }
  return ~crc;
}

Bytes random_packet(Rng& rng, uint32_t bytes) {
  Bytes packet(bytes);
  for (uint8_t& byte : packet) byte = static_cast<uint8_t>(rng.next());
  return packet;
}
Bytes with_zeros(Bytes packet, uint32_t zeros) {
  packet.insert(packet.end(), zeros, 0);
  return packet;
}

constexpr std::array kVersions{IpVersion::k4, IpVersion::k6};

TEST(Icrc, MatchesACnpCapturedFromAnAdapter) {
  const Bytes headers = from_hex("45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff4000011800000000");
  std::array<uint8_t, 4> stored;
  store_icrc(stored.data(), icrc_of(headers.data(), static_cast<uint32_t>(headers.size()), 16, IpVersion::k4));
  EXPECT_EQ(stored, (std::array<uint8_t, 4>{0x82, 0xfd, 0x00, 0x2a}));
  const Bytes whole = with_zeros(headers, 16);
  EXPECT_EQ(load_icrc(stored.data()), icrc_of(whole.data(), static_cast<uint32_t>(whole.size()), 0, IpVersion::k4));
}

TEST(Icrc, EqualsTheDefinitionAtEveryLength) {
  Rng rng{1, 0};
  for (const IpVersion version : kVersions) {
    for (uint32_t bytes = roce_header_bytes(version); bytes < 1300; ++bytes) {
      const Bytes packet = random_packet(rng, bytes);
      ASSERT_EQ(icrc_of(packet.data(), bytes, 0, version), slow_icrc(packet, version)) << bytes;
    }
    for (int drawn = 0; drawn < 50; ++drawn) {
      const Bytes packet = random_packet(rng, 1300 + static_cast<uint32_t>(rng.below(8000)));
      const auto bytes = static_cast<uint32_t>(packet.size());
      ASSERT_EQ(icrc_of(packet.data(), bytes, 0, version), slow_icrc(packet, version)) << bytes;
    }
  }
}

TEST(Icrc, LeftOutZerosCountLikeWrittenOnes) {
  Rng rng{2, 0};
  for (int i = 0; i < 2'000; ++i) {
    const IpVersion version = kVersions[rng.below(2)];
    const auto bytes = static_cast<uint32_t>(roce_header_bytes(version) + rng.below(60));
    const auto zeros = static_cast<uint32_t>(i < 40 ? i : rng.below(kMaxIcrcZeros + 1));
    const Bytes packet = random_packet(rng, bytes);
    const uint32_t expected = slow_icrc(with_zeros(packet, zeros), version);
    ASSERT_EQ(icrc_of(packet.data(), bytes, zeros, version), expected) << "bytes " << bytes << " zeros " << zeros;
  }
}

TEST(Icrc, TakesTheLongestRunOfZeros) {
  Rng rng{3, 0};
  for (const IpVersion version : kVersions) {
    const Bytes packet = random_packet(rng, roce_header_bytes(version) + 28);
    EXPECT_EQ(icrc_of(packet.data(), static_cast<uint32_t>(packet.size()), kMaxIcrcZeros, version),
              slow_icrc(with_zeros(packet, kMaxIcrcZeros), version));
  }
}

TEST(Icrc, SeesEveryBitButTheOnesANetworkMayChange) {
  Rng rng{4, 0};
  for (const IpVersion version : kVersions) {
    const uint32_t bytes = roce_header_bytes(version);
    const Bytes packet = random_packet(rng, bytes);
    const uint32_t before = icrc_of(packet.data(), bytes, 1024, version);
    uint32_t unseen = 0;
    for (uint32_t bit = 0; bit < bytes * 8; ++bit) {
      Bytes flipped = packet;
      flipped[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
      unseen += icrc_of(flipped.data(), bytes, 1024, version) == before;
    }
    // IPv4: TOS, TTL, checksum. IPv6: class and flow label (28 bits), hop limit. Both: UDP checksum, a BTH byte.
    EXPECT_EQ(unseen, (version == IpVersion::k4 ? 32u : 36u) + 24u);
  }
}

TEST(Icrc, PatchedWordsCountLikeWrittenOnes) {
  Rng rng{5, 0};
  for (int i = 0; i < 2'000; ++i) {
    const IpVersion version = kVersions[rng.below(2)];
    const uint32_t headers = roce_header_bytes(version);
    const auto bytes = static_cast<uint32_t>(headers + rng.below(20));
    const auto zeros = static_cast<uint32_t>(rng.below(kMaxIcrcZeros + 1));
    Bytes packet = random_packet(rng, bytes);
    const uint32_t first = 4;             // IPv4's id
    const uint32_t second = headers - 4;  // acknowledge request and PSN
    const PatchedIcrc patched{packet.data(), bytes, zeros, version, first, second};
    const uint32_t id = version == IpVersion::k4 ? static_cast<uint32_t>(rng.next()) : 0;
    const auto psn = static_cast<uint32_t>(rng.next());
    store_icrc(packet.data() + first, load_icrc(packet.data() + first) ^ id);
    store_icrc(packet.data() + second, load_icrc(packet.data() + second) ^ psn);
    ASSERT_EQ(patched.with(id, psn), icrc_of(packet.data(), bytes, zeros, version)) << i;
  }
}

}  // namespace
}  // namespace softspine::dataplane
