// SPDX-License-Identifier: Apache-2.0
#include "dataplane/hashing/extra_parts.hpp"

#include <algorithm>
#include <cstring>

#include "dataplane/hashing/inner_headers.hpp"
#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

constexpr uint8_t kIsIp = kIsIpv4 | kIsIpv6;
constexpr uint32_t kLongest = 16;  // of a field

// The field of a packet outside of tunnels that a field stands for.
HashField outer_of(HashField field) {
  using enum HashField;
  constexpr HashField kOuter[] = {kSrcMac,    kDstMac,    kEthertype, kSrcIp,   kDstIp,   kIpProtocol,
                                  kL4SrcPort, kL4DstPort, kSrcIpv4,   kDstIpv4, kSrcIpv6, kDstIpv6};
  return is_inner(field) ? kOuter[static_cast<size_t>(field) - static_cast<size_t>(kInnerSrcMac)] : field;
}

bool has_field(HashField field, const HeaderView& view, bool has_ethernet) {
  using enum HashField;
  switch (field) {
    case kSrcMac:
    case kDstMac:
    case kEthertype: return has_ethernet;
    case kSrcIp:
    case kDstIp:
    case kIpProtocol: return (view.flags & kIsIp) != 0;
    case kSrcIpv4:
    case kDstIpv4: return (view.flags & kIsIpv4) != 0;
    case kSrcIpv6:
    case kDstIpv6:
    case kIpv6FlowLabel: return (view.flags & kIsIpv6) != 0;
    case kL4SrcPort:
    case kL4DstPort: return (view.flags & kHasPorts) != 0;
    case kRdmaBthDestQp:
    case kRdmaBthOpcode: return (view.flags & kIsRoce) != 0;
    default: return true;
  }
}

uint8_t length_of(HashField field, bool is_ipv6) {
  using enum HashField;
  if (field == kInnerSrcIp || field == kInnerDstIp) return sizeof(Ipv6Address);
  const bool is_of_v6 = field == kInnerSrcIpv6 || field == kInnerDstIpv6;
  return source_of(outer_of(field), is_inner(field) ? is_of_v6 : is_ipv6).length;
}

int compared(const uint8_t* first, const uint8_t* second, size_t bytes) {
  return std::memcmp(first, second, bytes);
}

}  // namespace

bool is_turned(const HeaderView& view, bool has_ethernet) noexcept {
  const uint8_t* l3 = view.frame + view.l3_offset;
  const uint8_t* l4 = view.frame + view.l4_offset;
  int order = 0;
  if ((view.flags & kIsIpv4) != 0) order = compared(l3 + ipv4::kSource, l3 + ipv4::kDestination, 4);
  if ((view.flags & kIsIpv6) != 0) order = compared(l3 + ipv6::kSource, l3 + ipv6::kDestination, sizeof(Ipv6Address));
  if (order == 0 && (view.flags & kHasPorts) != 0)
    order = compared(l4 + udp::kSourcePort, l4 + udp::kDestinationPort, 2);
  if (order == 0 && has_ethernet)
    order = compared(view.frame + ethernet::kSource, view.frame + ethernet::kDestination, sizeof(MacAddress));
  return order < 0;
}

ExtraParts::ExtraParts(const HashConfig& config, bool is_ipv6, uint32_t at, bool in_words)
    : end_(at), symmetric_(config.symmetric) {
  std::vector<HashField> inner;
  std::ranges::copy_if(config.fields, std::back_inserter(inner), is_inner);
  std::ranges::sort(inner);
  inner.erase(std::ranges::unique(inner).begin(), inner.end());
  for (const HashField field : inner) end_ = place(field, is_ipv6, end_, in_words, KeyPart::kNotFine);
  std::vector<uint8_t> order(config.fine_grained.size());
  for (uint8_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto sequence_of = [&config](uint8_t i) { return config.fine_grained[i].sequence; };
  std::ranges::stable_sort(order, {}, sequence_of);
  uint32_t begin = end_;
  for (size_t i = 0; i < order.size(); ++i) {
    const FineGrainedField& fine = config.fine_grained[order[i]];
    if (i == 0 || fine.sequence == 0 || fine.sequence != sequence_of(order[i - 1])) begin = end_;
    if (is_elsewhere(fine.field, is_ipv6)) continue;
    end_ = std::max(end_, place(fine.field, is_ipv6, begin, in_words, order[i]));
  }
  for (const FineGrainedField& fine : config.fine_grained) {
    Mask& mask = masks_.emplace_back();
    mask.fill(0xff);
    std::ranges::copy(fine.mask, mask.begin());
  }
}

// Where the part ends.
uint32_t ExtraParts::place(HashField field, bool is_ipv6, uint32_t at, bool in_words, uint8_t fine) {
  const uint8_t length = length_of(field, is_ipv6);
  const uint32_t to = at + (in_words ? length % 2 : 0);
  has_inner_ = has_inner_ || is_inner(field);
  parts_.push_back({.source = KeyPart::Source::kExtra,
                    .length = length,
                    .to = static_cast<uint8_t>(to),
                    .field = field,
                    .fine = fine});
  return to + length;
}

bool ExtraParts::has(const KeyPart& part, const HeaderView& view) const noexcept {
  if (!is_inner(part.field)) return has_field(part.field, view, true);
  const InnerHeaders inner = inner_of(view);
  return has_field(outer_of(part.field), inner.view, inner.has_ethernet);
}

void ExtraParts::add(const HeaderView& outer, uint8_t* key) const noexcept {
  const InnerHeaders inner = has_inner_ ? inner_of(outer) : InnerHeaders{};
  const bool outer_turned = symmetric_ && is_turned(outer, true);
  const bool inner_turned = symmetric_ && is_turned(inner.view, inner.has_ethernet);
  for (const KeyPart& part : parts_) {
    const bool inside = is_inner(part.field);
    const HeaderView& view = inside ? inner.view : outer;
    const HashField field = outer_of(part.field);
    if (!has_field(field, view, !inside || inner.has_ethernet)) continue;
    std::array<uint8_t, kLongest> bytes{};
    take_bytes(source_of(field, (view.flags & kIsIpv6) != 0), view, inside ? inner_turned : outer_turned, bytes.data());
    for (uint32_t i = 0; i < part.length; ++i) {
      const uint8_t mask = part.fine == KeyPart::kNotFine ? uint8_t{0xff} : masks_[part.fine][i];
      key[part.to + i] = static_cast<uint8_t>(key[part.to + i] ^ (bytes[i] & mask));
    }
  }
}

}  // namespace softspine::dataplane
