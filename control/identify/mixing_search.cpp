// SPDX-License-Identifier: Apache-2.0
#include "control/identify/mixing_search.hpp"

#include <bit>

#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::control {

namespace dp = dataplane;

namespace {

// x mod n by two multiplications.
class Modulo {
 public:
  explicit Modulo(uint32_t n) : n_(n), inverse_(UINT64_MAX / n + 1) {}
  uint32_t operator()(uint32_t x) const {
    return static_cast<uint32_t>(static_cast<dp::Uint128>(inverse_ * x) * n_ >> 64);
  }

 private:
  uint32_t n_;
  uint64_t inverse_;
};

uint32_t rotated(uint32_t hash, uint32_t offset, uint32_t width) {
  return width == 32 ? std::rotr(hash, static_cast<int>(offset))
                     : std::rotr(static_cast<uint16_t>(hash), static_cast<int>(offset));
}

class Offsets {
 public:
  Offsets(uint32_t width, uint32_t members)
      : width_(width), members_(members), modulo_(members), all_(static_cast<uint32_t>((uint64_t{1} << width) - 1)) {}

  uint32_t all() const { return all_; }
  // Those of `alive` by which both hashes give one member.
  uint32_t equal(uint32_t x, uint32_t y, uint32_t alive) const {
    if (std::has_single_bit(members_)) return equal_bits(x ^ y, alive);
    uint32_t out = 0;
    for (uint32_t left = alive; left != 0; left &= left - 1) {
      const auto offset = static_cast<uint32_t>(std::countr_zero(left));
      if (modulo_(rotated(x, offset, width_)) == modulo_(rotated(y, offset, width_))) out |= 1U << offset;
    }
    return out;
  }

 private:
  // Bit t stays if the bits from t on that choose the member are all equal.
  uint32_t equal_bits(uint32_t different, uint32_t alive) const {
    uint32_t out = alive;
    for (uint32_t bits = members_; bits > 1; bits /= 2) {
      out &= ~different;
      different = rotated(different, 1, width_);
    }
    return out & all_;
  }

  uint32_t width_;
  uint32_t members_;
  Modulo modulo_;
  uint32_t all_;
};

template <dp::HashAlgorithm A>
class Seeded {
 public:
  explicit Seeded(const Family& family) : family_(family), config_(family.configs.front()) {}
  void set(uint32_t seed) {
    config_.seed = seed;
    setup_ = dp::HashFunction<A>::set_up(config_, 0);
  }
  uint32_t of(uint32_t flow) const {
    const dp::HashKey& key = family_.keys[flow];
    return dp::HashFunction<A>::of(setup_, key.words.data(), key.count);
  }

 private:
  const Family& family_;
  dp::HashConfig config_;
  dp::HashSetup setup_;
};

}  // namespace

void find_seeds(const Family& family, uint32_t members, std::span<const FlowPair> pairs,
                std::span<const uint32_t> seeds, uint64_t from, uint64_t to, const FoundSeed& found) {
  const Offsets offsets{family.width, members};
  dp::with_algorithm(family.configs.front().algorithm, [&]<dp::HashAlgorithm A>() {
    constexpr const dp::HashAlgorithmRow& row = dp::row_of(A);
    if constexpr (row.is_in(dp::HashModel::kSai) && row.seed == dp::SeedEffect::kMixing) {
      Seeded<A> hash{family};
      for (uint64_t i = from; i < to; ++i) {
        const uint32_t seed = seeds.empty() ? static_cast<uint32_t>(i) : seeds[i];
        hash.set(seed);
        uint32_t alive = offsets.all();
        for (const FlowPair& pair : pairs) {
          alive = offsets.equal(hash.of(pair.first), hash.of(pair.second), alive);
          if (alive == 0) break;
        }
        for (; alive != 0; alive &= alive - 1) found(seed, static_cast<uint8_t>(std::countr_zero(alive)));
      }
    }
  });
}

}  // namespace softspine::control
