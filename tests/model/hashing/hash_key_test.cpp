// SPDX-License-Identifier: Apache-2.0
// The key against a plain list of bytes: every field, SAI's layouts, UDFs, and what a packet does not have. RTAG7's
// key: rtag7_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "dataplane/hashing/own_key.hpp"
#include "dataplane/hashing/usual_key.hpp"
#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

using Bytes = std::vector<uint8_t>;

// A frame of random bytes and what a parser would have said of it.
struct Frame {
  Bytes bytes;
  uint32_t left_out = 0;
  HeaderView view{};
};

Frame frame_of(Rng& rng, bool is_ipv6, uint8_t flags, uint32_t size, uint32_t left_out = 0) {
  Frame frame;
  frame.bytes.resize(size - left_out);
  for (uint8_t& byte : frame.bytes) byte = static_cast<uint8_t>(rng.next());
  frame.left_out = left_out;
  const uint32_t l3 = (flags & kIsTagged) != 0 ? 18 : 14;
  frame.view = {.frame = nullptr,
                .stored_bytes = size - left_out,
                .frame_bytes = size,
                .l3_offset = static_cast<uint16_t>(l3),
                .l4_offset = static_cast<uint16_t>(l3 + (is_ipv6 ? 40 : 20)),
                .in_port = static_cast<uint16_t>(rng.below(512)),
                .vlan = static_cast<uint16_t>(rng.below(4096)),
                .ether_type = is_ipv6 ? ethernet::kTypeIpv6 : ethernet::kTypeIpv4,
                .flags = static_cast<uint8_t>(flags | (is_ipv6 ? kIsIpv6 : kIsIpv4)),
                .ip_protocol = static_cast<uint8_t>((flags & kIsTcp) != 0 ? 6 : 17)};
  return frame;
}

const HeaderView& view_of(Frame& frame) {
  frame.view.frame = frame.bytes.data();
  return frame.view;
}

Bytes key_bytes(const HashConfig& config, Frame& frame, bool* cut_short = nullptr) {
  HashKey key;
  KeyLayout{config, (frame.view.flags & kIsIpv6) != 0}.build(view_of(frame), key);
  if (cut_short != nullptr) *cut_short = key.cut_short;
  return Bytes(key.bytes(), key.bytes() + 8 * key.count);
}

Bytes cut(const Bytes& from, size_t at, size_t count) {
  return Bytes(from.begin() + static_cast<long>(at), from.begin() + static_cast<long>(at + count));
}
Bytes big_endian(uint32_t value, int bytes) {
  Bytes out;
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
  return out;
}

// The bytes of a field, by hand.
Bytes field_bytes(HashField field, const Frame& f) {
  const bool v6 = (f.view.flags & kIsIpv6) != 0;
  const bool ports = (f.view.flags & (kIsUdp | kIsTcp)) != 0;
  const bool roce = (f.view.flags & kIsRoce) != 0;
  const size_t l3 = f.view.l3_offset;
  const size_t l4 = f.view.l4_offset;
  switch (field) {
    case HashField::kInPort: return big_endian(f.view.in_port, 2);
    case HashField::kSrcMac: return cut(f.bytes, 6, 6);
    case HashField::kDstMac: return cut(f.bytes, 0, 6);
    case HashField::kEthertype: return big_endian(v6 ? 0x86dd : 0x0800, 2);
    case HashField::kVlanId: return big_endian(f.view.vlan, 2);
    case HashField::kSrcIp:
    case HashField::kSrcIpv4:
    case HashField::kSrcIpv6: return cut(f.bytes, l3 + (v6 ? 8 : 12), v6 ? 16 : 4);
    case HashField::kDstIp:
    case HashField::kDstIpv4:
    case HashField::kDstIpv6: return cut(f.bytes, l3 + (v6 ? 24 : 16), v6 ? 16 : 4);
    case HashField::kL4SrcPort: return ports ? cut(f.bytes, l4, 2) : Bytes(2);
    case HashField::kL4DstPort: return ports ? cut(f.bytes, l4 + 2, 2) : Bytes(2);
    case HashField::kIpProtocol: return {f.view.ip_protocol};
    case HashField::kRdmaBthDestQp: return roce ? cut(f.bytes, l4 + 13, 3) : Bytes(3);
    case HashField::kRdmaBthOpcode: return roce ? cut(f.bytes, l4 + 8, 1) : Bytes(1);
    case HashField::kIpv6FlowLabel:
      return v6 ? Bytes{static_cast<uint8_t>(f.bytes[l3 + 1] & 15), f.bytes[l3 + 2], f.bytes[l3 + 3]} : Bytes(3);
    default: break;  // inside of tunnels: tunnels_test.cpp
  }
  return {};
}

bool is_of_other_version(HashField field, const Frame& f) {
  const bool v6 = (f.view.flags & kIsIpv6) != 0;
  return v6 ? field == HashField::kSrcIpv4 || field == HashField::kDstIpv4
            : field == HashField::kSrcIpv6 || field == HashField::kDstIpv6;
}

constexpr HashField kInOrder[] = {HashField::kInPort,        HashField::kSrcMac,        HashField::kDstMac,
                                  HashField::kEthertype,     HashField::kVlanId,        HashField::kSrcIp,
                                  HashField::kDstIp,         HashField::kL4SrcPort,     HashField::kL4DstPort,
                                  HashField::kIpProtocol,    HashField::kRdmaBthDestQp, HashField::kRdmaBthOpcode,
                                  HashField::kIpv6FlowLabel, HashField::kSrcIpv4,       HashField::kDstIpv4,
                                  HashField::kSrcIpv6,       HashField::kDstIpv6};

Bytes in_words(Bytes bytes) {
  if (bytes.size() % 2 != 0) bytes.insert(bytes.begin(), 0);
  return bytes;
}

constexpr uint8_t kFlagSets[] = {kIsUdp | kIsRoce, kIsUdp, kIsTcp, kIsFragment, 0, kIsTagged | kIsUdp | kIsRoce};

TEST(HashKey, IsTheFieldsInTheDocumentedOrderAndThenZeros) {
  Rng rng{tests::seed(), 41};
  for (uint32_t i = 0; i < tests::to_repeat(20'000); ++i) {
    HashConfig config{.algorithm = rng.below(2) == 0 ? HashAlgorithm::kCrc : HashAlgorithm::kXor};
    config.fields.clear();
    for (const HashField field : kInOrder) {
      if (rng.below(2) == 0) config.fields.push_back(field);
    }
    Frame frame = frame_of(rng, rng.below(2) == 0, kFlagSets[rng.below(std::size(kFlagSets))], 200);
    Bytes expected;
    for (const HashField field : config.fields) {
      if (is_of_other_version(field, frame)) continue;
      Bytes part = field_bytes(field, frame);
      if (config.algorithm == HashAlgorithm::kXor) part = in_words(part);
      expected.insert(expected.end(), part.begin(), part.end());
    }
    expected.resize(std::max<size_t>(8, (expected.size() + 7) / 8 * 8));
    std::ranges::reverse(config.fields);  // the order asked for is not the key's
    ASSERT_EQ(key_bytes(config, frame), expected) << i;
  }
}

HashConfig only(const Udf& udf) {
  HashConfig config;
  config.fields.clear();
  config.udfs = {udf};
  return config;
}

Udf udf_at(UdfBase base, uint16_t offset, uint8_t length) {
  Udf udf;
  udf.base = base;
  udf.offset = offset;
  udf.length = length;
  return udf;
}

Bytes padded(Bytes bytes) {
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return bytes;
}

TEST(Udf, TakesItsBytesFromItsBase) {
  Rng rng{tests::seed(), 42};
  for (const uint8_t flags : {uint8_t{kIsUdp}, uint8_t{kIsUdp | kIsTagged}}) {
    Frame frame = frame_of(rng, false, flags, 200);
    EXPECT_EQ(key_bytes(only(udf_at(UdfBase::kL2, 3, 5)), frame), padded(cut(frame.bytes, 3, 5)));
    EXPECT_EQ(key_bytes(only(udf_at(UdfBase::kL3, 4, 16)), frame), cut(frame.bytes, frame.view.l3_offset + 4u, 16));
    EXPECT_EQ(key_bytes(only(udf_at(UdfBase::kL4, 13, 3)), frame),
              padded(cut(frame.bytes, frame.view.l4_offset + 13u, 3)));
  }
}

TEST(Udf, MasksEachByte) {
  Rng rng{tests::seed(), 43};
  Frame frame = frame_of(rng, true, kIsUdp, 100);
  Udf udf = udf_at(UdfBase::kL4, 13, 3);
  udf.mask = {0xf0, 0x00, 0xff};
  Bytes expected = cut(frame.bytes, frame.view.l4_offset + 13u, 3);
  expected[0] &= 0xf0;
  expected[1] = 0;
  EXPECT_EQ(key_bytes(only(udf), frame), padded(expected));
}

TEST(Udf, IsZerosForWhatItDoesNotMatch) {
  Rng rng{tests::seed(), 44};
  const Bytes zeros(8);
  Frame roce = frame_of(rng, false, kIsUdp | kIsRoce, 100);
  store16(roce.bytes.data() + roce.view.l4_offset + 2, 4791);
  EXPECT_NE(key_bytes(only(destination_qp_udf()), roce), zeros);
  Frame other = roce;
  store16(other.bytes.data() + other.view.l4_offset + 2, 4792);
  EXPECT_EQ(key_bytes(only(destination_qp_udf()), other), zeros);
  Frame fragment = roce;
  fragment.view.flags = kIsIpv4 | kIsFragment;
  EXPECT_EQ(key_bytes(only(destination_qp_udf()), fragment), zeros);
  EXPECT_EQ(key_bytes(only(udf_at(UdfBase::kL4, 0, 4)), fragment), zeros) << "a fragment has no layer 4";
  EXPECT_NE(key_bytes(only(udf_at(UdfBase::kL3, 0, 4)), fragment), zeros);
  // What is shown of a packet says the same.
  const KeyLayout layout{only(destination_qp_udf()), false};
  EXPECT_TRUE(layout.has(layout.parts().at(0), view_of(roce)));
  EXPECT_FALSE(layout.has(layout.parts().at(0), view_of(other)));
  EXPECT_FALSE(layout.has(layout.parts().at(0), view_of(fragment)));
  Udf of_type = udf_at(UdfBase::kL3, 0, 4);
  of_type.l2_type = ethernet::kTypeIpv6;
  EXPECT_EQ(key_bytes(only(of_type), roce), zeros);
  of_type.l2_type = ethernet::kTypeIpv4;
  EXPECT_NE(key_bytes(only(of_type), roce), zeros);
  of_type.l3_protocol = ip::kTcp;
  EXPECT_EQ(key_bytes(only(of_type), roce), zeros);
  of_type.l3_protocol = ip::kUdp;
  EXPECT_NE(key_bytes(only(of_type), roce), zeros);
}

TEST(Udf, TakesWhatIsThereOfAPacketThatIsTooShortAndSaysSo) {
  Rng rng{tests::seed(), 45};
  for (uint32_t size = 42; size < 60; ++size) {
    Frame frame = frame_of(rng, false, kIsUdp, size);
    bool cut_short = false;
    Bytes expected(8);
    for (uint32_t i = 0; i < 8 && 34 + 12 + i < size; ++i) expected[i] = frame.bytes[34 + 12 + i];
    EXPECT_EQ(key_bytes(only(udf_at(UdfBase::kL4, 12, 8)), frame, &cut_short), expected) << size;
    EXPECT_EQ(cut_short, size < 34 + 12 + 8) << size;
  }
}

// Built-in traffic leaves its payload out: zeros before the last four bytes.
TEST(Udf, SeesTheZerosThatAreLeftOutOfMemory) {
  Rng rng{tests::seed(), 46};
  Frame frame = frame_of(rng, false, kIsUdp, 100, 30);
  Bytes whole = cut(frame.bytes, 0, 66);
  whole.resize(96);
  const Bytes last = cut(frame.bytes, 66, 4);
  whole.insert(whole.end(), last.begin(), last.end());
  for (uint16_t offset = 0; offset + 16 <= 100 - 34; ++offset) {
    bool cut_short = true;
    EXPECT_EQ(key_bytes(only(udf_at(UdfBase::kL4, offset, 16)), frame, &cut_short), cut(whole, 34u + offset, 16))
        << offset;
    EXPECT_FALSE(cut_short);
  }
}

TEST(UsualKey, IsWhatTheLayoutWouldLayOut) {
  Rng rng{tests::seed(), 47};
  uint32_t made = 0;
  for (uint32_t i = 0; i < tests::to_repeat(40'000); ++i) {
    HashConfig config{.model = i % 3 == 0 ? HashModel::kRtag7 : HashModel::kSai,
                      .algorithm = i % 3 == 1 ? HashAlgorithm::kXor : HashAlgorithm::kCrc};
    const uint64_t kind = rng.below(3);
    if (kind == 1) config.fields.push_back(HashField::kRdmaBthDestQp);
    if (kind == 2) config.udfs = {destination_qp_udf()};
    Frame frame = frame_of(rng, rng.below(8) == 0, kFlagSets[rng.below(5)], 100);  // without a tag
    if ((frame.view.flags & kIsRoce) != 0) store16(frame.bytes.data() + frame.view.l4_offset + 2, 4791);
    const HeaderView& view = view_of(frame);
    const EcmpHash hash{config};
    const UsualFields fields = usual_fields(hash.usual_key(), view.flags, view.ip_protocol, view.frame + view.l3_offset,
                                            view.frame + view.l4_offset);
    if (!fields.are_all) continue;
    ++made;
    Bytes expected = key_bytes(config, frame);
    const auto bytes_of = [](const auto& words) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(words.data());
      return Bytes(bytes, bytes + 8 * words.size());
    };
    if (hash.shape() == KeyShape::kWords) expected.resize(24);  // without a QP it ends a word before
    ASSERT_EQ(hash.shape() == KeyShape::kPacked  ? bytes_of(packed(fields))
              : hash.shape() == KeyShape::kWords ? bytes_of(in_words(fields))
                                                 : bytes_of(in_bins(fields)),
              expected)
        << i;
  }
  EXPECT_GT(made, tests::to_repeat(20'000));
}

TEST(UsualKey, IsRecognisedWhateverTheOrderOfItsFields) {
  HashConfig config;
  EXPECT_EQ(EcmpHash{config}.usual_key(), UsualKey::kFiveTuple);
  std::ranges::reverse(config.fields);
  EXPECT_EQ(EcmpHash{config}.usual_key(), UsualKey::kFiveTuple);
  config.udfs = {destination_qp_udf()};
  EXPECT_EQ(EcmpHash{config}.usual_key(), UsualKey::kWithQpUdf);
  config.udfs[0].mask = {0xff, 0xff, 0xff};
  EXPECT_EQ(EcmpHash{config}.usual_key(), UsualKey::kWithQpUdf);
  config.udfs[0].mask = {0xff, 0xff, 0xfe};
  EXPECT_EQ(EcmpHash{config}.usual_key(), UsualKey::kNo);
  config.udfs.clear();
  config.fields.push_back(HashField::kRdmaBthDestQp);
  EXPECT_EQ(EcmpHash{config}.usual_key(), UsualKey::kWithQpField);
  config.fields.push_back(HashField::kInPort);
  EXPECT_EQ(EcmpHash{config}.usual_key(), UsualKey::kNo);
}

TEST(OwnKeys, AreThoseOfTheModelsOfHosts) {
  for (const HashModelRow& row : kHashModels) {
    EXPECT_EQ(own_key_of(row.model) != nullptr, row.is_of_hosts) << row.word;
  }
}

}  // namespace
}  // namespace softspine::dataplane
