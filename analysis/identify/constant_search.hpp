// SPDX-License-Identifier: Apache-2.0
// The seed of a linear hash, as what it adds: which constants c make (x ⊕ c) mod n equal for flows that took one link?
//
// With n = 2^a m, m odd, the lower a bits of c only rename the members, and so does the complement of c
// ((2^w − 1 − x) mod n). Both are taken as zero here, the highest bit in place of the complement. For a group of 2^a
// members nothing is left to search.
//
// A bit t of c in which two hashes x and y differ turns +2^t of the difference x − y into −2^t. So each pair of flows
// is an equation over the bits of c: a sum of weights is 0 modulo m. Several equations are added at once, each in a
// lane of a 64-bit word. Lower and upper half of the bits are summed apart, 2^16 sums each, and the sums that cancel
// are matched: of 2^32 constants, those that fulfil all the equations are found in under a millisecond.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace softspine::analysis {

class ConstantSearch {
 public:
  // Hashes of `width` bits (16 or 32), a group of `members` (2 to 4,096).
  ConstantSearch(uint32_t width, uint32_t members);

  // How many equations one search takes.
  uint32_t equations() const { return 64 / lane_; }
  uint32_t renaming_bits() const { return renaming_; }  // a
  bool is_renaming_only() const { return odd_ == 1; }   // no constant changes who shares a link
  bool has_complement() const { return odd_ != 1; }

  // The constants for which the two hashes of each of the first `equations()` pairs give one member: `most` at most.
  // The pairs' lower a bits are equal.
  std::vector<uint32_t> find(std::span<const std::pair<uint32_t, uint32_t>> pairs, size_t most);

 private:
  template <typename T>
  T sum(T a, T b) const;
  uint64_t flip(std::span<const std::pair<uint32_t, uint32_t>> pairs, uint32_t bit, bool negative) const;
  void fill(std::vector<uint64_t>& table, std::span<const uint64_t> flips, uint64_t first) const;
  std::vector<uint32_t> matches(size_t most);

  uint32_t renaming_;
  uint32_t odd_;
  uint32_t lane_;
  uint64_t ones_ = 0;              // 1 in each lane
  std::vector<uint32_t> weights_;  // 2 × 2^bit modulo the odd part
  uint32_t lower_bits_;
  uint32_t upper_bits_;
  uint32_t filter_bits_;
  std::vector<uint64_t> lower_;
  std::vector<uint64_t> upper_;  // what the lower half has to be
  std::vector<uint64_t> filter_;
  std::vector<uint64_t> second_filter_;
};

}  // namespace softspine::analysis
