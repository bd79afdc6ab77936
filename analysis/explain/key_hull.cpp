// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/key_hull.hpp"

#include <algorithm>
#include <bit>

namespace softspine::analysis {

namespace {

void add(KeyVector& to, const KeyVector& what) {
  for (size_t i = 0; i < to.size(); ++i) to[i] ^= what[i];
}

// Where a vector's first bit stands; its length in bits if it is zero.
size_t first_bit(const KeyVector& vector) {
  for (size_t i = 0; i < vector.size(); ++i) {
    if (vector[i] != 0) return i * 64 + static_cast<size_t>(std::countr_zero(vector[i]));
  }
  return vector.size() * 64;
}

}  // namespace

KeyHull::KeyHull(const std::vector<KeyVector>& keys) : base_(keys.front()) {
  std::vector<const KeyVector*> by_first(base_.size() * 64, nullptr);
  std::vector<KeyVector> reduced;
  reduced.reserve(by_first.size());
  for (const KeyVector& key : keys) {
    KeyVector difference = key;
    add(difference, base_);
    size_t first = first_bit(difference);
    while (first < by_first.size() && by_first[first] != nullptr) {
      add(difference, *by_first[first]);
      first = first_bit(difference);
    }
    if (first == by_first.size()) continue;
    reduced.push_back(difference);
    by_first[first] = &reduced.back();
  }
  basis_ = std::move(reduced);
}

KeyHull KeyHull::of_all(uint32_t bytes, uint32_t words) {
  KeyHull out;
  out.base_.assign(words, 0);
  for (uint32_t bit = 0; bit < bytes * 8; ++bit) {
    out.basis_.emplace_back(words, 0);
    out.basis_.back()[bit / 64] = uint64_t{1} << (bit % 64);
  }
  return out;
}

KeyVector KeyHull::sum_of(uint64_t which) const {
  KeyVector out = base_;
  for (size_t i = 0; i < basis_.size(); ++i) {
    if ((which >> i & 1) != 0) add(out, basis_[i]);
  }
  return out;
}

KeyVector KeyHull::drawn(dataplane::Rng& rng) const {
  KeyVector out = base_;
  uint64_t chance = 0;
  for (size_t i = 0; i < basis_.size(); ++i) {
    if (i % 64 == 0) chance = rng.next();
    if ((chance >> (i % 64) & 1) != 0) add(out, basis_[i]);
  }
  return out;
}

std::vector<KeyVector> KeyHull::some(uint32_t most) const {
  if (rank() < 32 && uint64_t{1} << rank() <= most) {
    std::vector<KeyVector> out;
    for (uint64_t which = 0; which < uint64_t{1} << rank(); ++which) out.push_back(sum_of(which));
    return out;
  }
  std::vector<KeyVector> out;
  dataplane::Rng rng{1, 2};
  for (uint32_t i = 0; i < most; ++i) out.push_back(drawn(rng));
  std::ranges::sort(out);
  const auto repeated = std::ranges::unique(out);
  out.erase(repeated.begin(), repeated.end());
  return out;
}

uint32_t rank_of(std::vector<uint64_t> rows) {
  uint32_t rank = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] == 0) continue;
    ++rank;
    const uint64_t lowest = rows[i] & (~rows[i] + 1);
    for (size_t j = i + 1; j < rows.size(); ++j) {
      if ((rows[j] & lowest) != 0) rows[j] ^= rows[i];
    }
  }
  return rank;
}

}  // namespace softspine::analysis
