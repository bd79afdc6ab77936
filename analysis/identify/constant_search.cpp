// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/constant_search.hpp"

#include <algorithm>
#include <bit>

#include "dataplane/units/check.hpp"

namespace softspine::analysis {

namespace {

using FourWords [[gnu::vector_size(32), gnu::aligned(8), gnu::may_alias]] = uint64_t;

// A sum of two numbers below the modulus has to fit into a lane.
uint32_t lane_for(uint32_t odd) {
  return odd < 8 ? 4 : odd < 128 ? 8 : 16;
}

// Whether a value was set; sometimes so for one that was not. Held by value: what it points to does not move it.
class Marks {
 public:
  Marks(uint64_t* words, uint32_t bits) : words_(words), shift_(64 - bits) {}

  void set(uint64_t value) const {
    const uint64_t slot = slot_of(value);
    words_[slot / 64] |= uint64_t{1} << (slot % 64);
  }
  bool test(uint64_t value) const {
    const uint64_t slot = slot_of(value);
    return (words_[slot / 64] >> (slot % 64) & 1) != 0;
  }

 private:
  uint64_t slot_of(uint64_t value) const { return value * 0x9E3779B97F4A7C15 >> shift_; }

  uint64_t* words_;
  uint32_t shift_;
};

}  // namespace

ConstantSearch::ConstantSearch(uint32_t width, uint32_t members)
    : renaming_(static_cast<uint32_t>(std::countr_zero(members))), odd_(members >> renaming_), lane_(lane_for(odd_)) {
  SOFTSPINE_CHECK(members >= 2 && members <= 4096 && width > renaming_ + 1, width, members);
  for (uint32_t at = 0; at < 64; at += lane_) ones_ |= uint64_t{1} << at;
  for (uint32_t weight = 2 % odd_; weights_.size() < width; weight = weight * 2 % odd_) weights_.push_back(weight);
  const uint32_t open = width - 1 - renaming_;
  lower_bits_ = open / 2;
  upper_bits_ = open - lower_bits_;
  filter_bits_ = std::max(10U, upper_bits_ + 4);
}

// Lane by lane, modulo the odd part of the members; of one word or of several.
template <typename T>
T ConstantSearch::sum(T a, T b) const {
  const T total = a + b;
  const uint64_t highest = ones_ << (lane_ - 1);
  const T over = (total + ones_ * ((uint64_t{1} << (lane_ - 1)) - odd_)) & highest;
  return total - ((over - (over >> (lane_ - 1))) & (ones_ * odd_));
}

// The bit's contribution, if the constant has it, to the differences of all pairs.
uint64_t ConstantSearch::flip(std::span<const std::pair<uint32_t, uint32_t>> pairs, uint32_t bit, bool negative) const {
  uint64_t out = 0;
  const uint64_t weight = weights_[bit];
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto [x, y] = pairs[i];
    if (((x ^ y) >> bit & 1) == 0) continue;
    const bool falls = (x >> bit & 1) != 0;
    const uint64_t value =
        falls != negative ? odd_ - weight : weight;  // never 0, since 2 and the modulus have no factor in common
    out |= value << (i * lane_);
  }
  return out;
}

void ConstantSearch::fill(std::vector<uint64_t>& table, std::span<const uint64_t> flips, uint64_t first) const {
  table.resize(size_t{1} << flips.size());
  table[0] = first;
  for (size_t bit = 0; bit < flips.size(); ++bit) {
    const size_t half = size_t{1} << bit;
    if (half < 4) {
      for (size_t i = 0; i < half; ++i) table[half + i] = sum(table[i], flips[bit]);
      continue;
    }
    const FourWords flip = FourWords{} + flips[bit];
    for (size_t i = 0; i < half; i += 4) {
      const FourWords* from = reinterpret_cast<const FourWords*>(&table[i]);
      *reinterpret_cast<FourWords*>(&table[half + i]) = sum(*from, flip);
    }
  }
}

std::vector<uint32_t> ConstantSearch::matches(size_t most) {
  filter_.assign((size_t{1} << filter_bits_) / 64, 0);
  second_filter_.assign(filter_.size(), 0);
  const Marks has_lower{filter_.data(), filter_bits_};
  const Marks has_upper{second_filter_.data(), filter_bits_};
  std::vector<std::pair<uint64_t, uint32_t>> upper;
  std::vector<std::pair<uint64_t, uint32_t>> lower;
  for (const uint64_t value : lower_) has_lower.set(value);
  for (uint32_t i = 0; i < upper_.size(); ++i) {
    if (!has_lower.test(upper_[i])) continue;
    upper.emplace_back(upper_[i], i);
    has_upper.set(upper_[i]);
  }
  for (uint32_t i = 0; i < lower_.size(); ++i) {
    if (has_upper.test(lower_[i])) lower.emplace_back(lower_[i], i);
  }
  std::ranges::sort(lower);
  std::vector<uint32_t> out;
  for (const auto& [value, i] : upper) {
    for (auto it = std::ranges::lower_bound(lower, std::pair{value, 0U}); it != lower.end() && it->first == value;
         ++it) {
      if (out.size() == most) return out;
      out.push_back(it->second << renaming_ | i << (renaming_ + lower_bits_));
    }
  }
  return out;
}

std::vector<uint32_t> ConstantSearch::find(std::span<const std::pair<uint32_t, uint32_t>> pairs, size_t most) {
  pairs = pairs.first(std::min<size_t>(pairs.size(), equations()));
  uint64_t difference = 0;  // of the pairs with constant 0, turned round: what all flips together have to add
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto [x, y] = pairs[i];
    difference |= uint64_t{(y % odd_ + odd_ - x % odd_) % odd_} << (i * lane_);
  }
  std::vector<uint64_t> flips;
  for (uint32_t bit = 0; bit < lower_bits_; ++bit) flips.push_back(flip(pairs, renaming_ + bit, false));
  fill(lower_, flips, 0);
  flips.clear();
  for (uint32_t bit = 0; bit < upper_bits_; ++bit) flips.push_back(flip(pairs, renaming_ + lower_bits_ + bit, true));
  fill(upper_, flips, difference);
  return matches(most);
}

}  // namespace softspine::analysis
