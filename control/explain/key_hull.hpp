// SPDX-License-Identifier: Apache-2.0
// Keys as vectors over GF(2): what can be reached from the keys that were seen by adding differences between them. A
// linear hash (a CRC, XOR, Toeplitz) of all of these keys follows from its value at one and its differences along a
// basis. So whatever goes together on the hull does so by what the hashes are, not by which flows came.
//
// A vector is the key of one switch, or of two, one behind the other: then both change together, as they do in packets.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/units/rng.hpp"

namespace softspine::control {

using KeyVector = std::vector<uint64_t>;

class KeyHull {
 public:
  // Of keys of one length, at least one.
  explicit KeyHull(const std::vector<KeyVector>& keys);
  // All keys of so many bytes, the first of `words` words.
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

}  // namespace softspine::control
