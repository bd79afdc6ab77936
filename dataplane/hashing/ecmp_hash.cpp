// SPDX-License-Identifier: Apache-2.0
#include "dataplane/hashing/ecmp_hash.hpp"

#include <algorithm>

namespace softspine::dataplane {

namespace {

bool uses_crc32c(const HashConfig& config) {
  using enum HashAlgorithm;
  const bool is_half = config.algorithm == kCrc32Lo || config.algorithm == kCrc32Hi;
  return is_half || (config.algorithm == kCrc && config.model == HashModel::kSai);
}

bool uses_crc16(const HashConfig& config) {
  using enum HashAlgorithm;
  return !uses_crc32c(config) &&
         (config.algorithm == kCrc || config.algorithm == kCrcCcitt || config.algorithm == kCrcXor);
}

uint16_t halves(uint32_t seed) {
  return static_cast<uint16_t>(seed ^ seed >> 16);
}

// RTAG7: what the seed's four bytes leave in the register.
uint32_t register_behind(const HashConfig& config) {
  uint32_t crc = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    const auto byte = static_cast<uint8_t>(config.seed >> shift);
    const uint16_t polynomial = config.algorithm == HashAlgorithm::kCrcCcitt ? kKermitPolynomial : kArcPolynomial;
    crc = uses_crc32c(config) ? crc32c_of_byte(crc, byte) : crc16_of_byte(polynomial, static_cast<uint16_t>(crc), byte);
  }
  return crc;
}

uint32_t start_of(const HashConfig& config) {
  if (config.algorithm == HashAlgorithm::kXor) return halves(config.seed);
  uint32_t start = config.seed;
  if (config.model == HashModel::kRtag7) {
    start = register_behind(config);
  } else if (uses_crc16(config)) {
    start = halves(config.seed);
  }
  // CRC_XOR: the CRC's start below, the XOR's above.
  if (config.algorithm == HashAlgorithm::kCrcXor) start |= uint32_t{halves(config.seed)} << 16;
  return start;
}

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
      start_(start_of(config)),
      layouts_{KeyLayout{config, false}, KeyLayout{config, true}},
      config_(config) {
  using enum HashAlgorithm;
  const bool is_wide = algorithm_ == kRandom || algorithm_ == kToeplitz || algorithm_ == kXxh3 ||
                       (algorithm_ == kCrc && config.model == HashModel::kSai);
  width_ = is_wide ? 32 : 16;
  if (algorithm_ == kToeplitz) {
    const std::span<const uint8_t> key =
        config.toeplitz_key.empty() ? std::span<const uint8_t>(kMicrosoftRssKey) : config.toeplitz_key;
    toeplitz_ = std::make_shared<const ToeplitzTables>(key, 8 * std::max(layouts_[0].words(), layouts_[1].words()));
  }
}

}  // namespace softspine::dataplane
