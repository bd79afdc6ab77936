// SPDX-License-Identifier: Apache-2.0
#include "dataplane/hashing/hash_key.hpp"

#include <algorithm>

#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

namespace {

constexpr uint8_t kHasPorts = kIsUdp | kIsTcp;
constexpr uint32_t kFoldedBytes = 4;

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
    case HashField::kSrcIp: return {.offset = source, .length = address};
    case HashField::kDstIp: return {.offset = destination, .length = address};
    case HashField::kL4SrcPort:
      return {.base = UdfBase::kL4, .needs = kHasPorts, .offset = udp::kSourcePort, .length = 2};
    case HashField::kL4DstPort:
      return {.base = UdfBase::kL4, .needs = kHasPorts, .offset = udp::kDestinationPort, .length = 2};
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

}  // namespace

KeyLayout::KeyLayout(const HashConfig& config, bool is_ipv6) : udfs_(config.udfs) {
  std::vector<HashField> fields = config.fields;
  std::ranges::sort(fields);
  fields.erase(std::ranges::unique(fields).begin(), fields.end());
  for (const HashField field : fields) add(config, field, is_ipv6);
  for (uint8_t i = 0; i < udfs_.size(); ++i) add_udf(config, i);
  words_ = std::max(1U, (used_ + 7) / 8);
  SOFTSPINE_CHECK(words_ <= HashKey::kMaxWords, used_, udfs_.size());
}

void KeyLayout::add(const HashConfig& config, HashField field, bool is_ipv6) {
  KeyPart part = source_of(field, is_ipv6);
  part.field = field;
  uint32_t bytes = part.length;
  if (config.model == HashModel::kRtag7 && part.length == sizeof(Ipv6Address)) {
    part.source = KeyPart::Source::kFoldedAddress;
    bytes = kFoldedBytes;
  }
  part.to = place(config, bytes);
  parts_.push_back(part);
}

void KeyLayout::add_udf(const HashConfig& config, uint8_t index) {
  const Udf& udf = config.udfs[index];
  parts_.push_back({.source = KeyPart::Source::kUdf,
                    .base = udf.base,
                    .offset = udf.offset,
                    .length = udf.length,
                    .to = place(config, udf.length),
                    .udf = index});
}

// The next place for so many bytes; in whole bins, at their end.
uint8_t KeyLayout::place(const HashConfig& config, uint32_t bytes) {
  if (config.model == HashModel::kRtag7) used_ += bytes % 2;
  const uint32_t at = used_;
  used_ += bytes;
  return static_cast<uint8_t>(at);
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

void KeyLayout::build(const HeaderView& view, HashKey& key) const noexcept {
  key.count = words_;
  key.cut_short = false;
  for (uint32_t i = 0; i < words_; ++i) key.words[i] = 0;
  for (const KeyPart& part : parts_) {
    if (!has(part, view)) continue;
    uint8_t* to = bytes_at(key, part.to);
    const uint8_t* from = view.frame + base_of(part.base, view) + part.offset;
    switch (part.source) {
      case KeyPart::Source::kInPort: store16(to, view.in_port); break;
      case KeyPart::Source::kVlan: store16(to, view.vlan); break;
      case KeyPart::Source::kEtherType: store16(to, view.ether_type); break;
      case KeyPart::Source::kProtocol: *to = view.ip_protocol; break;
      case KeyPart::Source::kFlowLabel: store24(to, load32(view.frame + view.l3_offset) & ipv6::kFlowLabelMask); break;
      case KeyPart::Source::kFoldedAddress:
        store32(to, load32(from) ^ load32(from + 4) ^ load32(from + 8) ^ load32(from + 12));
        break;
      case KeyPart::Source::kUdf: take_udf(part, view, key); break;
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
}

}  // namespace softspine::dataplane
