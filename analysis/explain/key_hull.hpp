// SPDX-License-Identifier: Apache-2.0
// The hull of keys as vectors over GF(2): every key that can be reached from the keys that were seen by adding
// differences between them. A linear hash (a CRC, XOR, Toeplitz) of all of these keys follows from its value at one and
// its differences along a basis. So choices that depend on each other on the whole hull do so because of the hashes,
// not because of the flows that came.
//
// A vector is the key of one switch, or the keys of two switches one behind the other: the two then change together, as
// they do in packets.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/units/rng.hpp"

namespace softspine::analysis {

using KeyVector = std::vector<uint64_t>;

class KeyHull {
 public:
  // The keys have one length; there is at least one.
  explicit KeyHull(const std::vector<KeyVector>& keys);
  // The hull of all keys of `bytes` bytes, which begin with the first of `words` words.
  static KeyHull of_all(uint32_t bytes, uint32_t words);

  uint32_t rank() const { return static_cast<uint32_t>(basis_.size()); }
  const KeyVector& base() const { return base_; }
  const std::vector<KeyVector>& basis() const { return basis_; }

  // Different keys of the hull: all of them if there are no more than `most`, else so many drawn at random.
  std::vector<KeyVector> some(uint32_t most) const;

 private:
  KeyHull() = default;
  KeyVector sum_of(uint64_t which) const;
  KeyVector drawn(dataplane::Rng& rng) const;

  KeyVector base_;
  std::vector<KeyVector> basis_;
};

// The rank over GF(2) of rows of up to 64 bits.
uint32_t rank_of(std::vector<uint64_t> rows);

}  // namespace softspine::analysis
