// SPDX-License-Identifier: Apache-2.0
#include "dataplane/hashing/hash_key.hpp"

#include <algorithm>

#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

namespace {

constexpr uint8_t kHasPorts = kIsUdp | kIsTcp;
constexpr uint32_t kAddressBytes = 4;  // of an IPv6 address in bins, too

// Where bins stand before the key's bytes are turned round: the seed's word first, then bins 11 to 0, then zeros.
constexpr uint32_t kBinsEnd = 28;
constexpr uint8_t bin(uint32_t number) {
  return static_cast<uint8_t>(kBinsEnd - 2 * (number + 1));
}

// Where a field comes from; `to` and `field` are filled in by who asks.
KeyPart source_of(HashField field, bool is_ipv6) {
  using S = KeyPart::Source;
  const auto address = static_cast<uint8_t>(is_ipv6 ? 16 : 4);
  const auto source = static_cast<uint16_t>(is_ipv6 ? ipv6::kSource : ipv4::kSource);
  const auto destination = static_cast<uint16_t>(is_ipv6 ? ipv6::kDestination : ipv4::kDestination);
  switch (field) {
    case HashField::kInPort: return {.source = S::kInPort, .length = 2};
    case HashField::kSrcMac: return {.base = UdfBase::kL2, .offset = ethernet::kSource, .length = 6};
    case HashField::kDstMac: return {.base = UdfBase::kL2, .offset = ethernet::kDestination, .length = 6};
    case HashField::kEthertype: return {.source = S::kEtherType, .length = 2};
    case HashField::kVlanId: return {.source = S::kVlan, .length = 2};
    case HashField::kSrcIp:
    case HashField::kSrcIpv4:
    case HashField::kSrcIpv6: return {.offset = source, .mirror = destination, .length = address};
    case HashField::kDstIp:
    case HashField::kDstIpv4:
    case HashField::kDstIpv6: return {.offset = destination, .mirror = source, .length = address};
    case HashField::kL4SrcPort:
      return {.base = UdfBase::kL4,
              .needs = kHasPorts,
              .offset = udp::kSourcePort,
              .mirror = udp::kDestinationPort,
              .length = 2};
    case HashField::kL4DstPort:
      return {.base = UdfBase::kL4,
              .needs = kHasPorts,
              .offset = udp::kDestinationPort,
              .mirror = udp::kSourcePort,
              .length = 2};
    case HashField::kIpProtocol: return {.source = S::kProtocol, .length = 1};
    case HashField::kRdmaBthDestQp:
      return {.base = UdfBase::kL4, .needs = kIsRoce, .offset = udp::kBytes + bth::kDestinationQp, .length = 3};
    case HashField::kRdmaBthOpcode:
      return {.base = UdfBase::kL4, .needs = kIsRoce, .offset = udp::kBytes + bth::kOpcode, .length = 1};
    case HashField::kIpv6FlowLabel: return {.source = S::kFlowLabel, .needs = kIsIpv6, .length = 3};
  }
  return {};
}

uint8_t* bytes_at(HashKey& key, uint32_t to) {
  return reinterpret_cast<uint8_t*>(key.words.data()) + to;
}

uint32_t base_of(UdfBase base, const HeaderView& view) {
  return base == UdfBase::kL2 ? 0 : base == UdfBase::kL3 ? view.l3_offset : view.l4_offset;
}

// The byte of the frame at `at`, which is inside of it: stored, or one of the zeros that are left out.
uint8_t byte_of(const HeaderView& view, uint32_t at) {
  const uint32_t left_out = view.frame_bytes - view.stored_bytes;
  if (left_out == 0 || at + kIcrcBytes < view.stored_bytes) return view.frame[at];
  return at >= view.frame_bytes - kIcrcBytes ? view.frame[at - left_out] : uint8_t{0};
}

bool has_mirror(HashField field) {
  using enum HashField;
  constexpr HashField kThese[] = {kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kSrcIpv4, kDstIpv4, kSrcIpv6, kDstIpv6};
  return std::ranges::find(kThese, field) != std::end(kThese);
}

// Of packets of the other version only.
bool is_elsewhere(HashField field, bool is_ipv6) {
  using enum HashField;
  return is_ipv6 ? field == kSrcIpv4 || field == kDstIpv4 : field == kSrcIpv6 || field == kDstIpv6;
}

// The fields in the key's order, each once, then the UDFs.
std::vector<KeyPart> parts_of(const HashConfig& config, bool is_ipv6) {
  std::vector<HashField> fields = config.fields;
  std::ranges::sort(fields);
  fields.erase(std::ranges::unique(fields).begin(), fields.end());
  std::vector<KeyPart> parts;
  for (const HashField field : fields) {
    if (config.model == HashModel::kRtag7 && field == HashField::kIpv6FlowLabel && !is_ipv6) continue;
    if (is_elsewhere(field, is_ipv6)) continue;
    KeyPart part = source_of(field, is_ipv6);
    if (!has_mirror(field)) part.mirror = part.offset;
    part.field = field;
    parts.push_back(part);
  }
  for (uint8_t i = 0; i < config.udfs.size(); ++i) {
    const Udf& udf = config.udfs[i];
    parts.push_back({.source = KeyPart::Source::kUdf,
                     .base = udf.base,
                     .offset = udf.offset,
                     .mirror = udf.offset,
                     .length = udf.length,
                     .udf = i});
  }
  return parts;
}

// What RTAG7 has in bins 1 and 0.
bool is_in_user_bins(const KeyPart& part) {
  if (part.source == KeyPart::Source::kUdf) return true;
  return part.field == HashField::kRdmaBthDestQp || part.field == HashField::kRdmaBthOpcode ||
         part.field == HashField::kIpv6FlowLabel;
}

// Each of the four words' 16-bit lanes, as one processes a bin before it is hashed.
uint64_t pre_processed(uint64_t bins) {
  constexpr uint64_t kLower13 = 0x1fff'1fff'1fff'1fff;
  constexpr uint64_t kUpper14 = 0xfffc'fffc'fffc'fffc;
  return bins ^ (bins >> 3 & kLower13) ^ (bins << 2 & kUpper14);
}

}  // namespace

KeyLayout::KeyLayout(const HashConfig& config, bool is_ipv6)
    : udfs_(config.udfs), shape_(shape_of(config)), options_(config.rtag7 ? config.rtag7->a : Rtag7Options{}) {
  if (shape_ == KeyShape::kBins) {
    uint32_t user_at = kBinsEnd - user_bytes(config, is_ipv6);
    for (const KeyPart& part : parts_of(config, is_ipv6)) add_to_bins(part, user_at);
    used_ = kBinsEnd;
  } else {
    for (const KeyPart& part : parts_of(config, is_ipv6)) add(part);
  }
  words_ = std::max(1U, (used_ + 7) / 8);
  SOFTSPINE_CHECK(words_ <= HashKey::kMaxWords, used_, udfs_.size());
}

void KeyLayout::add(KeyPart part) {
  if (shape_ == KeyShape::kWords) used_ += part.length % 2;
  part.to = static_cast<uint8_t>(used_);
  used_ += part.length;
  parts_.push_back(part);
}

void KeyLayout::add_to_bins(KeyPart part, uint32_t& user_at) {
  using S = KeyPart::Source;
  if (is_in_user_bins(part)) {
    part.to = static_cast<uint8_t>(user_at);
    user_at += part.length;
    SOFTSPINE_CHECK(user_at <= kBinsEnd, user_at, part.length);
  } else {
    switch (part.field) {
      case HashField::kSrcIp:
      case HashField::kSrcIpv4:
      case HashField::kSrcIpv6: part.to = bin(11); break;
      case HashField::kDstIp:
      case HashField::kDstIpv4:
      case HashField::kDstIpv6: part.to = bin(9); break;
      case HashField::kVlanId: part.to = bin(7); break;
      case HashField::kL4SrcPort: part.to = bin(6); break;
      case HashField::kL4DstPort: part.to = bin(5); break;
      case HashField::kIpProtocol: part.to = bin(4) + 1; break;
      case HashField::kInPort: part.to = bin(3); break;
      default: part.source = S::kNone; break;
    }
    if (part.length == sizeof(Ipv6Address)) part.source = options_.low_ipv6 ? S::kLowAddress : S::kFoldedAddress;
  }
  parts_.push_back(part);
}

uint32_t KeyLayout::user_bytes(const HashConfig& config, bool is_ipv6) {
  uint32_t bytes = 0;
  for (const KeyPart& part : parts_of(config, is_ipv6)) bytes += is_in_user_bins(part) ? part.length : 0;
  return bytes;
}

std::vector<uint8_t> KeyLayout::bytes_of(const KeyPart& part, const HashKey& key) const {
  using S = KeyPart::Source;
  const bool is_short = part.source == S::kFoldedAddress || part.source == S::kLowAddress;
  std::vector<uint8_t> out(is_short ? kAddressBytes : part.length);
  for (uint32_t i = 0; i < out.size(); ++i)
    out[i] = key.bytes()[shape_ == KeyShape::kBins ? 8 * words_ - 1 - (part.to + i) : part.to + i];
  return out;
}

bool KeyLayout::matches(const Udf& udf, const HeaderView& view) const noexcept {
  if (udf.l2_type && *udf.l2_type != view.ether_type) return false;
  if (udf.l3_protocol && ((view.flags & (kIsIpv4 | kIsIpv6)) == 0 || *udf.l3_protocol != view.ip_protocol))
    return false;
  if (udf.l4_dst_port) {
    return (view.flags & kHasPorts) != 0 &&
           load16(view.frame + view.l4_offset + udp::kDestinationPort) == *udf.l4_dst_port;
  }
  return udf.base != UdfBase::kL4 || (view.l4_offset != 0 && (view.flags & kIsFragment) == 0);
}

bool KeyLayout::has(const KeyPart& part, const HeaderView& view) const noexcept {
  if (part.source == KeyPart::Source::kNone) return false;
  if (part.source == KeyPart::Source::kUdf) return matches(udfs_[part.udf], view);
  return part.needs == 0 || (view.flags & part.needs) != 0;
}

void KeyLayout::take_udf(const KeyPart& part, const HeaderView& view, HashKey& key) const noexcept {
  const Udf& udf = udfs_[part.udf];
  const uint32_t from = base_of(part.base, view) + part.offset;
  uint8_t* to = bytes_at(key, part.to);
  for (uint32_t i = 0; i < part.length; ++i) {
    if (from + i >= view.frame_bytes) {
      key.cut_short = true;
      return;
    }
    const uint8_t byte = byte_of(view, from + i);
    to[i] = udf.mask.empty() ? byte : static_cast<uint8_t>(byte & udf.mask[i]);
  }
}

// Whether a symmetric hash takes source for destination: where the source's address is the smaller one.
bool KeyLayout::is_turned(const HeaderView& view) const noexcept {
  if (!options_.symmetric) return false;
  const uint8_t* l3 = view.frame + view.l3_offset;
  if ((view.flags & kIsIpv4) != 0) return load32(l3 + ipv4::kSource) < load32(l3 + ipv4::kDestination);
  return (view.flags & kIsIpv6) != 0 &&
         std::memcmp(l3 + ipv6::kSource, l3 + ipv6::kDestination, sizeof(Ipv6Address)) < 0;
}

// Turned round as a whole: what stood in network order is words in little-endian byte order then.
void KeyLayout::into_bins(HashKey& key) const noexcept {
  std::reverse(key.words.begin(), key.words.begin() + words_);
  for (uint32_t i = 0; i < words_; ++i) {
    key.words[i] = __builtin_bswap64(key.words[i]);
    if (options_.pre_processing) key.words[i] = pre_processed(key.words[i]);
  }
}

void KeyLayout::build(const HeaderView& view, HashKey& key) const noexcept {
  const bool turned = is_turned(view);
  key.count = words_;
  key.cut_short = false;
  for (uint32_t i = 0; i < words_; ++i) key.words[i] = 0;
  for (const KeyPart& part : parts_) {
    if (!has(part, view)) continue;
    uint8_t* to = bytes_at(key, part.to);
    const uint8_t* from = view.frame + base_of(part.base, view) + (turned ? part.mirror : part.offset);
    switch (part.source) {
      case KeyPart::Source::kInPort: store16(to, view.in_port); break;
      case KeyPart::Source::kVlan: store16(to, view.vlan); break;
      case KeyPart::Source::kEtherType: store16(to, view.ether_type); break;
      case KeyPart::Source::kProtocol: *to = view.ip_protocol; break;
      case KeyPart::Source::kFlowLabel: store24(to, load32(view.frame + view.l3_offset) & ipv6::kFlowLabelMask); break;
      case KeyPart::Source::kFoldedAddress:
        store32(to, load32(from) ^ load32(from + 4) ^ load32(from + 8) ^ load32(from + 12));
        break;
      case KeyPart::Source::kLowAddress: std::memcpy(to, from + sizeof(Ipv6Address) - kAddressBytes, 4); break;
      case KeyPart::Source::kUdf: take_udf(part, view, key); break;
      case KeyPart::Source::kNone: break;
      case KeyPart::Source::kBytes:
        switch (part.length) {  // a move each, where a length that varies would be a call
          case 1: *to = *from; break;
          case 2: std::memcpy(to, from, 2); break;
          case 3: std::memcpy(to, from, 3); break;
          case 4: std::memcpy(to, from, 4); break;
          case 6: std::memcpy(to, from, 6); break;
          default: std::memcpy(to, from, 16); break;
        }
    }
  }
  if (shape_ == KeyShape::kBins) into_bins(key);
}

}  // namespace softspine::dataplane
