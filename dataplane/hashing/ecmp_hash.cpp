// SPDX-License-Identifier: Apache-2.0
#include "dataplane/hashing/ecmp_hash.hpp"

#include <algorithm>

#include "dataplane/packet/wire.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

namespace {

UsualKey usual_of(const HashConfig& config) {
  const bool has_objects = std::ranges::any_of(config.objects, [](const auto& object) { return object.has_value(); });
  if (row_of(config.algorithm).is_of_hosts() || config.rtag7 || config.symmetric || !config.fine_grained.empty() ||
      has_objects)
    return UsualKey::kNo;
  std::vector<HashField> fields = config.fields;
  std::ranges::sort(fields);
  fields.erase(std::ranges::unique(fields).begin(), fields.end());
  std::vector<HashField> five = HashConfig{}.fields;
  std::ranges::sort(five);
  if (config.udfs.empty() && fields == five) return UsualKey::kFiveTuple;
  if (config.udfs.size() == 1 && fields == five) {
    Udf udf = config.udfs[0];
    if (std::ranges::all_of(udf.mask, [](uint8_t byte) { return byte == 0xff; })) udf.mask.clear();
    return udf == destination_qp_udf() ? UsualKey::kWithQpUdf : UsualKey::kNo;
  }
  five.push_back(HashField::kRdmaBthDestQp);  // the last of the six
  return config.udfs.empty() && fields == five ? UsualKey::kWithQpField : UsualKey::kNo;
}

}  // namespace

EcmpHash::EcmpHash(const HashConfig& config)
    : algorithm_(config.algorithm),
      model_(config.model),
      usual_(usual_of(config)),
      shape_(shape_of(config)),
      offset_(config.offset),
      width_(row_of(config.algorithm).bits_in(config.model)),
      layouts_{KeyLayout{config, false}, KeyLayout{config, true}},
      objects_(objects_of(config)),
      config_(config) {
  SOFTSPINE_CHECK(longest_key_words() <= HashKey::kMaxWords, longest_key_words(), config.fields.size());
  setup_ = with_algorithm(algorithm_, [&]<HashAlgorithm A>() { return set_up<A>(config); });
  if (config.rtag7) blocks_ = std::make_shared<const Rtag7Blocks>(config);
  if (const OwnKey* own = own_key_of(config.model)) inside_ = own->inside_of(config);
  is_built_apart_ = blocks_ != nullptr || inside_ != nullptr;
}

std::shared_ptr<const EcmpHash::Objects> EcmpHash::objects_of(const HashConfig& config) {
  Objects out;
  bool any = false;
  for (size_t i = 0; i < kHashObjects; ++i) {
    if (!config.objects[i]) continue;
    any = true;
    out[i].emplace(with_object(config, *config.objects[i]), is_of_ipv6(static_cast<HashObjectOf>(i)));
  }
  return any ? std::make_shared<const Objects>(std::move(out)) : nullptr;
}

uint32_t EcmpHash::longest_key_words() const {
  uint32_t words = std::max(layouts_[0].words(), layouts_[1].words());
  if (objects_ == nullptr) return words;
  for (const auto& layout : *objects_) words = std::max(words, layout ? layout->words() : 0);
  return words;
}

void EcmpHash::build_apart(const HeaderView& view, HashKey& key) const noexcept {
  if (blocks_ != nullptr) return blocks_->build(view, key);
  const HeaderView hashed = inside_(view);
  layouts_[(hashed.flags & kIsIpv6) != 0 ? 1 : 0].build(hashed, key);
}

// From the narrowest kind of packets to the widest.
const KeyLayout& EcmpHash::layout_of_object(const HeaderView& view) const noexcept {
  const auto object = [this](HashObjectOf packets) -> const std::optional<KeyLayout>& {
    return (*objects_)[static_cast<size_t>(packets)];
  };
  const bool is_ipv6 = (view.flags & kIsIpv6) != 0;
  const auto& rdma = object(is_ipv6 ? HashObjectOf::kIpv6Rdma : HashObjectOf::kIpv4Rdma);
  if (rdma && (view.flags & kIsRoce) != 0) return *rdma;
  const auto& tunnel = object(HashObjectOf::kIpv4InIpv4);
  if (tunnel && !is_ipv6 && view.ip_protocol == ip::kIpv4InIp) return *tunnel;
  const auto& all = object(is_ipv6 ? HashObjectOf::kIpv6 : HashObjectOf::kIpv4);
  return all ? *all : layouts_[is_ipv6 ? 1 : 0];
}

template <HashAlgorithm A>
HashSetup EcmpHash::set_up(const HashConfig& config) const {
  constexpr const HashAlgorithmRow& row = row_of(A);
  if constexpr (row.is_in(HashModel::kRtag7)) {
    if (config.model == HashModel::kRtag7) return {.start = seed_part<A>(config.seed), .toeplitz = {}};
  }
  if constexpr (row.is_in(HashModel::kSai) || row.is_of_hosts())
    return HashFunction<A>::set_up(config, 8 * longest_key_words());
  return {};
}

uint32_t EcmpHash::raw(const HashKey& key) const noexcept {
  if (blocks_ != nullptr) return blocks_->take(key).raw;
  return with_algorithm(algorithm_, [&]<HashAlgorithm A>() { return raw<A>(key.words.data(), key.count); });
}

HashTaken EcmpHash::taken(const HashKey& key) const noexcept {
  if (blocks_ != nullptr) return blocks_->take(key);
  return {.algorithm = algorithm_, .seed = config_.seed, .offset = offset_, .raw = raw(key)};
}

const KeyLayout& EcmpHash::layout(const HashTaken& taken, const HeaderView& view) const noexcept {
  if (blocks_ != nullptr) return blocks_->layout(taken.is_of_b(), view);
  if (inside_ != nullptr) return layouts_[(inside_(view).flags & kIsIpv6) != 0 ? 1 : 0];
  return layout_of(view);
}

// RTAG7 hashes its seed as the last of the key's words, and has no zeros before the first.
std::vector<uint8_t> EcmpHash::bytes_of(const HashTaken& taken, const HashKey& key) const {
  if (shape_ != KeyShape::kBins) return {key.bytes(), key.bytes() + size_t{8} * key.count};
  const uint8_t* first = key.bytes() + (taken.is_of_b() ? 8 * Rtag7Blocks::kWords : 0) + 4;
  std::vector<uint8_t> out(first, first + 24);
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<uint8_t>(taken.seed >> shift));
  return out;
}

}  // namespace softspine::dataplane
