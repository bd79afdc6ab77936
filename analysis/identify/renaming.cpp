// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/renaming.hpp"

#include <algorithm>
#include <bit>

namespace softspine::analysis {

namespace {

uint32_t mask_of(uint32_t bits) {
  return static_cast<uint32_t>((uint64_t{1} << bits) - 1);
}

uint32_t rotated_left(uint32_t value, uint32_t bits, uint32_t width) {
  return width == 32 ? std::rotl(value, static_cast<int>(bits))
                     : std::rotl(static_cast<uint16_t>(value), static_cast<int>(bits));
}

class Renamings {
 public:
  Renamings(const LinearFit& linear, const ConstantSearch& constants, const Sample& sample, const Fit& fit)
      : linear_(linear), constants_(constants), sample_(sample), fit_(fit) {}

  // A bucket's new number if the constant is complemented, and then `flips` is added to it.
  uint32_t renamed(uint32_t bucket, bool complemented, uint32_t flips) const {
    const uint32_t n = sample_.members;
    if (complemented) bucket = (mask_of(linear_.width) % n + n - bucket) % n;
    return bucket ^ flips;
  }
  // The flips that put the members into the links' order.
  std::optional<uint32_t> natural(bool complemented) const {
    if (sample_.link_count != sample_.members) return std::nullopt;
    std::optional<uint32_t> flips;
    for (uint32_t bucket = 0; bucket < sample_.members; ++bucket) {
      const uint32_t link = fit_.of_bucket[bucket];
      if (link == kUnknownLink) continue;
      if (!flips) flips = renamed(bucket, complemented, 0) ^ link;
      if (renamed(bucket, complemented, *flips) != link) return std::nullopt;
    }
    if (!flips || *flips > mask_of(constants_.renaming_bits())) return std::nullopt;
    return flips;
  }
  std::optional<uint32_t> seed(const SeedEffects& effects, bool complemented, uint32_t flips) const {
    const uint32_t mask = mask_of(constants_.is_renaming_only() ? constants_.renaming_bits() : linear_.width);
    const uint32_t constant = ((complemented ? ~linear_.constant : linear_.constant) ^ flips) & mask;
    return effects.seed_for(rotated_left(constant, linear_.offset, linear_.width),
                            rotated_left(mask, linear_.offset, linear_.width));
  }

 private:
  const LinearFit& linear_;
  const ConstantSearch& constants_;
  const Sample& sample_;
  const Fit& fit_;
};

}  // namespace

std::optional<uint32_t> seed_of(const SeedEffects& effects, const LinearFit& linear, const ConstantSearch& constants,
                                const Sample& sample, const Fit& fit) {
  const Renamings renamings{linear, constants, sample, fit};
  const uint32_t complements = constants.has_complement() ? 2 : 1;
  for (uint32_t complemented = 0; complemented < complements; ++complemented) {
    const auto flips = renamings.natural(complemented != 0);
    const auto seed = flips ? renamings.seed(effects, complemented != 0, *flips) : std::nullopt;
    if (seed) return seed;
  }
  std::optional<uint32_t> smallest;
  for (uint32_t complemented = 0; complemented < complements; ++complemented) {
    for (uint32_t flips = 0; flips <= mask_of(constants.renaming_bits()); ++flips) {
      const auto seed = renamings.seed(effects, complemented != 0, flips);
      if (seed && (!smallest || *seed < *smallest)) smallest = seed;
      if (smallest && *smallest == 0) return smallest;
    }
  }
  return smallest;
}

}  // namespace softspine::analysis
