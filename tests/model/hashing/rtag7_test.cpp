// SPDX-License-Identifier: Apache-2.0
// RTAG7 against the tests' own (slow_rtag7.hpp): from a frame's bytes and a configuration to the hash.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/hashing/slow_rtag7.hpp"

namespace softspine::dataplane {
namespace {

using tests::SlowBytes;
using tests::SlowPacket;
using enum HashAlgorithm;

constexpr uint32_t kL3 = 14;

struct Rtag7Frame {
  std::vector<uint8_t> bytes;
  HeaderView view{};
  SlowPacket slow;
  uint32_t l4 = 0;
};

uint32_t number(const Rtag7Frame& frame, uint32_t at, uint32_t bytes) {
  uint32_t out = 0;
  for (uint32_t i = 0; i < bytes; ++i) out = out * 256 + frame.bytes[at + i];
  return out;
}

// Random bytes; one frame in four has equal ports, one in four nothing to find ports in.
Rtag7Frame random_frame(Rng& rng) {
  Rtag7Frame frame;
  frame.bytes.resize(120);
  for (uint8_t& byte : frame.bytes) byte = static_cast<uint8_t>(rng.next());
  const bool is_ipv6 = rng.below(2) == 0;
  frame.l4 = kL3 + (is_ipv6 ? 40 : 20);
  const uint64_t kind = rng.below(4);
  if (kind == 0) std::copy_n(&frame.bytes[frame.l4], 2, &frame.bytes[frame.l4 + 2]);
  uint8_t flags = kind == 1 ? 0 : kind == 2 ? kIsTcp : kIsUdp | kIsRoce;
  if (kind == 0) flags = kIsUdp;
  frame.view = {.frame = nullptr,
                .stored_bytes = 120,
                .frame_bytes = 120,
                .l3_offset = kL3,
                .l4_offset = static_cast<uint16_t>(frame.l4),
                .in_port = static_cast<uint16_t>(rng.below(512)),
                .vlan = static_cast<uint16_t>(rng.below(4096)),
                .ether_type = is_ipv6 ? ethernet::kTypeIpv6 : ethernet::kTypeIpv4,
                .flags = static_cast<uint8_t>(flags | (is_ipv6 ? kIsIpv6 : kIsIpv4)),
                .ip_protocol = static_cast<uint8_t>(rng.next())};
  SlowPacket& slow = frame.slow;
  for (uint32_t i = 0; i < (is_ipv6 ? 4 : 1); ++i) {
    slow.source.push_back(number(frame, kL3 + (is_ipv6 ? 8 : 12) + 4 * i, 4));
    slow.destination.push_back(number(frame, kL3 + (is_ipv6 ? 24 : 16) + 4 * i, 4));
  }
  slow.vlan = frame.view.vlan;
  slow.in_port = frame.view.in_port;
  slow.protocol = frame.view.ip_protocol;
  slow.has_ports = kind != 1;
  slow.source_port = number(frame, frame.l4, 2);
  slow.destination_port = number(frame, frame.l4 + 2, 2);
  return frame;
}

HashAlgorithm random_function(Rng& rng) {
  for (;;) {
    const HashAlgorithmRow& row = kHashAlgorithms[rng.below(kHashAlgorithms.size())];
    if (row.is_in(HashModel::kRtag7) && !row.is_drawn) return row.algorithm;
  }
}

// What a configuration has in bins 1 and 0.
enum class User : uint8_t { kNothing, kQp, kQpAndOpcode, kFlowLabel, kUdf };

std::vector<HashField> random_fields(Rng& rng, User user) {
  using enum HashField;
  std::vector<HashField> out;
  for (const HashField field :
       {kInPort, kSrcMac, kDstMac, kEthertype, kVlanId, kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol}) {
    if (rng.below(3) != 0) out.push_back(field);
  }
  const bool has_it = rng.below(4) != 0;
  if (has_it && user == User::kQpAndOpcode) out.push_back(kRdmaBthOpcode);
  if (has_it && (user == User::kQpAndOpcode || user == User::kQp)) out.push_back(kRdmaBthDestQp);
  if (has_it && user == User::kFlowLabel) out.push_back(kIpv6FlowLabel);
  return out;
}

uint32_t user_of(const Rtag7Frame& frame, const HashConfig& config, const std::vector<HashField>& fields) {
  const auto has = [&](HashField field) { return std::ranges::find(fields, field) != fields.end(); };
  const bool is_roce = (frame.view.flags & kIsRoce) != 0;
  const bool is_ipv6 = (frame.view.flags & kIsIpv6) != 0;
  uint32_t user = 0;
  if (has(HashField::kRdmaBthDestQp)) user = is_roce ? number(frame, frame.l4 + 13, 3) : 0;
  if (has(HashField::kRdmaBthOpcode)) user = user * 256 + (is_roce ? frame.bytes[frame.l4 + 8] : 0);
  if (has(HashField::kIpv6FlowLabel) && is_ipv6) user = number(frame, kL3, 4) & 0xfffff;
  for (const Udf& udf : config.udfs) user = number(frame, kL3 + udf.offset, udf.length);
  return user;
}

Rtag7Options random_options(Rng& rng, User user) {
  Rtag7Options out{.second = random_function(rng), .equal_ports = {}};
  if (rng.below(2) == 0) out.equal_ports = random_fields(rng, user);
  out.pre_processing = rng.below(2) == 0;
  out.low_ipv6 = rng.below(2) == 0;
  out.symmetric = rng.below(2) == 0;
  return out;
}

HashConfig random_config(Rng& rng) {
  const auto user = static_cast<User>(rng.below(5));
  const auto output = [&rng] { return static_cast<Rtag7Output>(rng.below(4)); };
  HashConfig config{.model = HashModel::kRtag7, .algorithm = random_function(rng)};
  config.fields = random_fields(rng, user);
  config.seed = static_cast<uint32_t>(rng.next());
  config.offset = static_cast<uint8_t>(rng.below(16));
  if (user == User::kUdf)
    config.udfs = {Udf{.base = UdfBase::kL3,
                       .offset = static_cast<uint16_t>(rng.below(60)),
                       .length = static_cast<uint8_t>(1 + rng.below(4)),
                       .mask = {},
                       .l2_type = {},
                       .l3_protocol = {},
                       .l4_dst_port = {}}};
  Rtag7Config& rtag7 = config.rtag7.emplace();
  rtag7.a = random_options(rng, user);
  rtag7.b = random_options(rng, user);
  rtag7.b_first = random_function(rng);
  if (rng.below(2) == 0) rtag7.b_fields = random_fields(rng, user);
  rtag7.b_seed = static_cast<uint32_t>(rng.next());
  rtag7.output = output();
  if (rng.below(2) != 0) return config;
  Rtag7MacroFlow& flows = rtag7.macro_flow.emplace();
  flows = {.algorithm = random_function(rng), .upper_byte = rng.below(2) == 0, .table = {}};
  for (uint32_t i = 0; i < 1U << rng.below(9); ++i)
    flows.table.push_back({.output = output(), .offset = static_cast<uint8_t>(rng.below(16))});
  return config;
}

uint32_t hash_of(const EcmpHash& hash, Rtag7Frame& frame) {
  frame.view.frame = frame.bytes.data();
  HashKey key;
  hash.build(frame.view, key);
  return hash.of(key);
}

TEST(SlowRtag7, GivesThePublishedCheckValues) {
  const SlowBytes nine{'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  const auto reversed = [](uint32_t value, unsigned bits) {
    uint32_t out = 0;
    for (unsigned i = 0; i < bits; ++i) out = out * 2 + (value >> i & 1);
    return out;
  };
  EXPECT_EQ(reversed(tests::slow_register(16, 0x8005, nine), 16), 0xBB3Du) << "CRC-16/ARC";
  EXPECT_EQ(reversed(tests::slow_register(16, 0x1021, nine), 16), 0x2189u) << "CRC-16/KERMIT";
  EXPECT_EQ(~reversed(tests::slow_register(32, 0x1EDC6F41, nine, 0xffffffff), 32), 0xE3069283u) << "CRC-32/ISCSI";
  EXPECT_EQ(~reversed(tests::slow_register(32, 0x04C11DB7, nine, 0xffffffff), 32), 0xCBF43926u) << "CRC-32/ISO-HDLC";
  EXPECT_EQ(reversed(tests::slow_register(32, 0x741B8CD7, nine, 0xffffffff), 32), 0xD2C22F51u) << "CRC-32/MEF";
}

TEST(Rtag7, IsTheTwinsInEveryBitOfTenThousandConfigurationsAndPackets) {
  Rng rng{tests::seed(), 61};
  std::set<uint32_t> seen;
  for (uint32_t i = 0; i < tests::to_repeat(10'000); ++i) {
    const HashConfig config = random_config(rng);
    const EcmpHash hash{config};
    Rtag7Frame frame = random_frame(rng);
    const uint32_t expected =
        tests::slow_rtag7(config, frame.slow, [&](const auto& fields) { return user_of(frame, config, fields); });
    ASSERT_EQ(hash_of(hash, frame), expected) << i;
    seen.insert(expected);
  }
  EXPECT_GT(seen.size(), tests::to_repeat(8'000)) << "the hashes differ";
}

// Without blocks: the short way of a switch that has nothing but a function, fields, seed and offset.
TEST(Rtag7, OfBlockAsFirstFunctionAloneIsTheSame) {
  Rng rng{tests::seed(), 62};
  for (uint32_t i = 0; i < tests::to_repeat(10'000); ++i) {
    HashConfig config = random_config(rng);
    config.rtag7.reset();
    const EcmpHash hash{config};
    Rtag7Frame frame = random_frame(rng);
    HashConfig whole = config;
    whole.rtag7.emplace();
    ASSERT_EQ(hash_of(hash, frame),
              tests::slow_rtag7(whole, frame.slow, [&](const auto& fields) { return user_of(frame, config, fields); }))
        << i;
  }
}

// One packet by hand: 10.1.2.3 → 10.4.5.6, UDP, 49,152 → 4791, seed 10. In the order of the bytes hashed.
TEST(Rtag7, HashesTwentyEightBytesWithTheSeedLast) {
  Rtag7Frame frame;
  frame.bytes.resize(60);
  const uint8_t addresses[] = {10, 1, 2, 3, 10, 4, 5, 6};
  std::ranges::copy(addresses, &frame.bytes[kL3 + 12]);
  store16(&frame.bytes[kL3 + 20], 49'152);
  store16(&frame.bytes[kL3 + 22], 4791);
  frame.view = {.frame = frame.bytes.data(),
                .stored_bytes = 60,
                .frame_bytes = 60,
                .l3_offset = kL3,
                .l4_offset = kL3 + 20,
                .in_port = 7,
                .vlan = 0,
                .ether_type = ethernet::kTypeIpv4,
                .flags = kIsIpv4 | kIsUdp,
                .ip_protocol = 17};
  const EcmpHash hash{{.model = HashModel::kRtag7, .seed = 10}};
  HashKey key;
  hash.build(frame.view, key);
  const SlowBytes expected{0, 0, 0, 0, 0, 0,  0, 0, 17, 0,  0xb7, 0x12, 0, 0xc0,
                           0, 0, 6, 5, 4, 10, 3, 2, 1,  10, 10,   0,    0, 0};
  EXPECT_EQ(hash.bytes_of(hash.taken(key), key), expected);
  EXPECT_EQ(hash.of(key), tests::slow_register(16, 0x8005, expected));
}

TEST(Rtag7, HashesBothDirectionsOfAFlowAlikeIfSymmetric) {
  Rng rng{tests::seed(), 63};
  HashConfig config{.model = HashModel::kRtag7};
  config.rtag7.emplace().a.symmetric = true;
  const EcmpHash hash{config};
  const EcmpHash plain{{.model = HashModel::kRtag7}};
  int differ = 0;
  for (int i = 0; i < 1'000; ++i) {
    Rtag7Frame there = random_frame(rng);
    Rtag7Frame back = there;
    const uint32_t size = (there.view.flags & kIsIpv6) != 0 ? 16 : 4;
    const uint32_t at = there.l4 - 2 * size;
    std::swap_ranges(back.bytes.begin() + at, back.bytes.begin() + at + size, back.bytes.begin() + at + size);
    std::swap_ranges(back.bytes.begin() + there.l4, back.bytes.begin() + there.l4 + 2,
                     back.bytes.begin() + there.l4 + 2);
    EXPECT_EQ(hash_of(hash, there), hash_of(hash, back)) << i;
    differ += hash_of(plain, there) != hash_of(plain, back);
  }
  EXPECT_GT(differ, 900);
}

}  // namespace
}  // namespace softspine::dataplane
