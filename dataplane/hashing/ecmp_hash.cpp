// SPDX-License-Identifier: Apache-2.0
#include "dataplane/hashing/ecmp_hash.hpp"

#include <algorithm>

namespace softspine::dataplane {

namespace {

UsualKey usual_of(const HashConfig& config) {
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
      offset_(config.offset),
      width_(row_of(config.algorithm).bits_in(config.model)),
      layouts_{KeyLayout{config, false}, KeyLayout{config, true}},
      config_(config) {
  const uint32_t key_bytes = 8 * std::max(layouts_[0].words(), layouts_[1].words());
  setup_ = with_algorithm(algorithm_, [&]<HashAlgorithm A>() { return HashFunction<A>::set_up(config, key_bytes); });
}

}  // namespace softspine::dataplane
