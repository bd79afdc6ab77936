// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/mixing_search.hpp"

#include <algorithm>
#include <bit>
#include <future>
#include <thread>
#include <type_traits>

#include "analysis/identify/member_choice.hpp"
#include "dataplane/hashing/ecmp_hash.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

using Lanes [[gnu::vector_size(32)]] = uint32_t;  // a register of AVX2
constexpr Lanes kNumbers{0, 1, 2, 3, 4, 5, 6, 7};

// Whether n divides a number, without dividing: n = 2^k m with m odd divides x if and only if x / m modulo 2^32, its
// lowest k bits in front, is at most (2^32 - 1) / n.
class Divisor {
 public:
  explicit Divisor(uint32_t n) : twos_(static_cast<uint32_t>(std::countr_zero(n))), most_(UINT32_MAX / n) {
    const uint32_t odd = n >> twos_;
    for (int i = 0; i < 5; ++i) inverse_ *= 2 - odd * inverse_;  // each step doubles the bits that are right
  }
  // In each lane all bits or none.
  Lanes divides(Lanes x) const {
    const Lanes quotient = x * inverse_;
    return reinterpret_cast<Lanes>((quotient >> twos_ | quotient << ((32 - twos_) & 31)) <= most_);
  }

 private:
  uint32_t twos_;
  uint32_t most_;
  uint32_t inverse_ = 1;
};

// The offsets of a switch's hash.
class Offsets {
 public:
  Offsets(const Family& family, uint32_t members)
      : width_(family.width),
        members_(members),
        divisor_(members),
        all_(static_cast<uint32_t>((uint64_t{1} << family.width) - 1)) {}

  uint32_t all() const { return all_; }
  // Those of `alive` by which both hashes give one member.
  uint32_t equal(uint32_t x, uint32_t y, uint32_t alive) const {
    return alive & (std::has_single_bit(members_) ? equal_bits(x ^ y) : equal_rests(x, y));
  }

 private:
  // Bit t stays if the bits from t on that choose the member are all equal.
  uint32_t equal_bits(uint32_t different) const {
    uint32_t out = all_;
    for (uint32_t bits = members_; bits > 1; bits /= 2) {
      out &= ~different;
      different = rotated(different, 1, width_);
    }
    return out;
  }
  // Eight offsets at a time.
  uint32_t equal_rests(uint32_t x, uint32_t y) const {
    Lanes out{};
    for (uint32_t first = 0; first < width_; first += 8) {
      const Lanes offset = kNumbers + first;
      const Lanes a = turned(x, offset);
      const Lanes b = turned(y, offset);
      out |= divisor_.divides(a > b ? a - b : b - a) & ((Lanes{} + 1) << offset);
    }
    uint32_t all = 0;
    for (size_t lane = 0; lane < 8; ++lane) all |= out[lane];
    return all;
  }
  Lanes turned(uint32_t x, Lanes offset) const {
    if (width_ == 16) return ((Lanes{} + (x | x << 16)) >> offset) & 0xffff;
    return (Lanes{} + x) >> offset | (Lanes{} + x) << ((32 - offset) & 31);
  }

  uint32_t width_;
  uint32_t members_;
  Divisor divisor_;
  uint32_t all_;
};

// For a host that forwards: there is only one.
class NoOffset {
 public:
  NoOffset(const Family& family, uint32_t members) : choice_(family.configs.front(), members) {}

  static uint32_t all() { return 1; }
  uint32_t equal(uint32_t x, uint32_t y, uint32_t alive) const { return choice_.of(x) == choice_.of(y) ? alive : 0; }

 private:
  MemberChoice choice_;
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

std::vector<FoundSeed> find_in_part(const Family& family, uint32_t members, std::span<const FlowPair> pairs,
                                    std::span<const uint32_t> seeds, uint64_t from, uint64_t to) {
  std::vector<FoundSeed> out;
  dp::with_algorithm(family.configs.front().algorithm, [&]<dp::HashAlgorithm A>() {
    constexpr const dp::HashAlgorithmRow& row = dp::row_of(A);
    if constexpr (row.seed == dp::SeedEffect::kMixing) {
      const std::conditional_t<row.is_of_hosts(), NoOffset, Offsets> offsets{family, members};
      Seeded<A> hash{family};
      for (uint64_t i = from; i < to; ++i) {
        const uint32_t seed = seeds.empty() ? static_cast<uint32_t>(i) : seeds[i];
        if (row.is_in(dp::HashModel::kLinux) && seed == 0) continue;  // each kernel then draws its own
        hash.set(seed);
        uint32_t alive = offsets.all();
        for (const FlowPair& pair : pairs) {
          alive = offsets.equal(hash.of(pair.first), hash.of(pair.second), alive);
          if (alive == 0) break;
        }
        for (; alive != 0; alive &= alive - 1) out.push_back({seed, static_cast<uint8_t>(std::countr_zero(alive))});
      }
    }
  });
  return out;
}

constexpr uint64_t kWorthAThread = 16'384;  // seeds: some milliseconds

}  // namespace

std::vector<FoundSeed> find_seeds(const Family& family, uint32_t members, std::span<const FlowPair> pairs,
                                  std::span<const uint32_t> seeds, uint64_t from, uint64_t to) {
  const uint64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const uint64_t parts = std::clamp<uint64_t>((to - from) / kWorthAThread, 1, cores);
  const auto start_of = [&](uint64_t part) { return from + (to - from) * part / parts; };
  std::vector<std::future<std::vector<FoundSeed>>> others;
  for (uint64_t part = 1; part < parts; ++part) {
    others.push_back(std::async(std::launch::async, [&, part] {
      return find_in_part(family, members, pairs, seeds, start_of(part), start_of(part + 1));
    }));
  }
  std::vector<FoundSeed> out = find_in_part(family, members, pairs, seeds, from, start_of(1));
  for (auto& other : others) {
    const std::vector<FoundSeed> more = other.get();
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

std::vector<uint32_t> buckets_of(const Family& family, uint32_t members, const FoundSeed& with) {
  std::vector<uint32_t> out;
  const MemberChoice choice{family.configs.front(), members};
  dp::with_algorithm(family.configs.front().algorithm, [&]<dp::HashAlgorithm A>() {
    if constexpr (dp::row_of(A).seed == dp::SeedEffect::kMixing) {
      Seeded<A> hash{family};
      hash.set(with.seed);
      for (uint32_t flow = 0; flow < family.keys.size(); ++flow)
        out.push_back(choice.of(rotated(hash.of(flow), with.offset, family.width)));
    }
  });
  return out;
}

}  // namespace softspine::analysis
