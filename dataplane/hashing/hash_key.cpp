// SPDX-License-Identifier: Apache-2.0
#include "dataplane/hashing/hash_key.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "dataplane/hashing/hash_function.hpp"
#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

namespace {

constexpr uint32_t kAddressBytes = 4;  // of an IPv6 address in bins, too

// Where bins stand before the key's bytes are turned round: the seed's word first, then bins 11 to 0, then zeros.
constexpr uint32_t kBinsEnd = 28;
constexpr uint8_t bin(uint32_t number) {
  return static_cast<uint8_t>(kBinsEnd - 2 * (number + 1));
}

uint8_t* bytes_at(HashKey& key, uint32_t to) {
  return reinterpret_cast<uint8_t*>(key.words.data()) + to;
}

// The byte of the frame at `at`, which is inside of it: stored, or one of the zeros that are left out.
uint8_t byte_of(const HeaderView& view, uint32_t at) {
  const uint32_t left_out = view.frame_bytes - view.stored_bytes;
  if (left_out == 0 || at + kIcrcBytes < view.stored_bytes) return view.frame[at];
  return at >= view.frame_bytes - kIcrcBytes ? view.frame[at - left_out] : uint8_t{0};
}

// True for parts that RTAG7 has in bins 1 and 0.
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

template <size_t... Model>
constexpr auto own_keys(std::index_sequence<Model...>) {
  return std::array<const OwnKey*, sizeof...(Model)>{kOwnKey<static_cast<HashModel>(Model)>...};
}
constexpr std::array kOwnKeys = own_keys(std::make_index_sequence<kHashModels.size()>{});

}  // namespace

const OwnKey* own_key_of(HashModel model) {
  return kOwnKeys[static_cast<size_t>(model)];
}

KeyLayout::KeyLayout(const HashConfig& config, bool is_ipv6)
    : udfs_(config.udfs), shape_(shape_of(config)), options_(config.rtag7 ? config.rtag7->a : Rtag7Options{}) {
  if (shape_ == KeyShape::kBins) {
    uint32_t user_at = kBinsEnd - user_bytes(config, is_ipv6);
    for (const KeyPart& part : parts_of(config, is_ipv6)) add_to_bins(part, user_at);
    used_ = kBinsEnd;
  } else if (shape_ == KeyShape::kOwn) {
    own_ = own_key_of(config.model);
    variant_ = own_->variant_of(config);
    parts_ = own_->parts_of(config, is_ipv6);
    used_ = own_->bytes_of(is_ipv6);
  } else {
    for (const KeyPart& part : parts_of(config, is_ipv6)) add(part);
    symmetric_ = config.symmetric;
    extra_ = ExtraParts(config, is_ipv6, used_, shape_ == KeyShape::kWords);
    used_ = extra_.end();
  }
  plain_ = static_cast<uint32_t>(parts_.size());
  parts_.insert(parts_.end(), extra_.parts().begin(), extra_.parts().end());
  words_ = std::max(1U, (used_ + 7) / 8);
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

uint8_t KeyLayout::mask_of(const KeyPart& part, size_t byte) const {
  using S = KeyPart::Source;
  if (part.source == S::kUdf) return udfs_[part.udf].mask.empty() ? 0xff : udfs_[part.udf].mask[byte];
  const bool is_short = part.field == HashField::kVlanId || part.field == HashField::kIpv6FlowLabel;
  const auto in_packet = static_cast<uint8_t>(is_short && byte == 0 ? 0x0f : 0xff);
  return part.fine == KeyPart::kNotFine ? in_packet : in_packet & extra_.mask_of(part.fine)[byte];
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
  if (part.source == KeyPart::Source::kExtra) return extra_.has(part, view);
  if (own_ != nullptr && part.base == UdfBase::kL4) return own_->has_ports(view, variant_);
  return has_plain(part, view);
}

// Any but an extra part.
inline bool KeyLayout::has_plain(const KeyPart& part, const HeaderView& view) const noexcept {
  if (part.source >= KeyPart::Source::kUdf) [[unlikely]]
    return part.source == KeyPart::Source::kUdf && matches(udfs_[part.udf], view);
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

// Whether a symmetric hash takes source for destination: RTAG7's where the source's address is the smaller one.
bool KeyLayout::is_other_direction(const HeaderView& view) const noexcept {
  if (symmetric_) [[unlikely]]
    return is_turned(view, true);
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
  const bool turned = is_other_direction(view);
  key.count = words_;
  key.cut_short = false;
  for (uint32_t i = 0; i < words_; ++i) key.words[i] = 0;
  for (uint32_t i = 0; i < plain_; ++i) {
    const KeyPart& part = parts_[i];
    if (!has_plain(part, view)) continue;
    if (part.source == KeyPart::Source::kUdf) [[unlikely]] {
      take_udf(part, view, key);
    } else {
      take_bytes(part, view, turned, bytes_at(key, part.to));
    }
  }
  if (!extra_.empty()) extra_.add(view, bytes_at(key, 0));
  if (shape_ >= KeyShape::kBins) finish(view, key);
}

void KeyLayout::finish(const HeaderView& view, HashKey& key) const noexcept {
  if (own_ == nullptr) return into_bins(key);
  own_->finish(parts_, view, variant_, bytes_at(key, 0));
}

}  // namespace softspine::dataplane
