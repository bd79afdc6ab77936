// SPDX-License-Identifier: Apache-2.0
#include "dataplane/hashing/ecmp_hash.hpp"

#include <algorithm>

namespace softspine::dataplane {

namespace {

UsualKey usual_of(const HashConfig& config) {
  if (config.rtag7) return UsualKey::kNo;
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
      config_(config) {
  setup_ = with_algorithm(algorithm_, [&]<HashAlgorithm A>() { return set_up<A>(config); });
  if (config.rtag7) blocks_ = std::make_shared<const Rtag7Blocks>(config);
}

template <HashAlgorithm A>
HashSetup EcmpHash::set_up(const HashConfig& config) const {
  constexpr const HashAlgorithmRow& row = row_of(A);
  if constexpr (row.is_in(HashModel::kRtag7)) {
    if (config.model == HashModel::kRtag7) return {.start = seed_part<A>(config.seed), .toeplitz = {}};
  }
  if constexpr (row.is_in(HashModel::kSai))
    return HashFunction<A>::set_up(config, 8 * std::max(layouts_[0].words(), layouts_[1].words()));
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
  return layouts_[(view.flags & kIsIpv6) != 0 ? 1 : 0];
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
