// SPDX-License-Identifier: Apache-2.0
// How many of a group's links one field of the hash key can reach by itself.
//
// With a linear hash (a CRC, XOR, Toeplitz), flipping one bit of the key always changes the same bits of the hash. Keys
// that differ in one field have the hash of one of them, XORed with some of these changes. If few changes are
// independent, the hash takes few values, and some links stay unused: a field in the key may still spread nothing.
#pragma once

#include <vector>

#include "analysis/explain/walker.hpp"

namespace softspine::analysis {

struct FieldReach {
  // How far a link's load may be from its share: SONiC's generic_hash_test.
  static constexpr double kMargin = 0.25;

  uint32_t bits = 0;         // that the key has of the field
  uint32_t independent = 0;  // bits of the hash, modulo the buckets if those are 2^n, that they change
  uint32_t links = 0;
  uint32_t reached = 0;
  // The load of the least and the most loaded link over its share, if all values of the field come equally often.
  double least = 0;
  double most = 0;

  bool spreads() const { return reached == links && least >= 1 - kMargin && most <= 1 + kMargin; }
};

// The reach of each part of the choice's key, in the key's order. `members`: the next hop of each bucket of `hash`.
// Empty if linear algebra does not apply: a hash that mixes or draws, RTAG7's blocks, symmetric keys.
std::vector<FieldReach> reach_of_fields(const dataplane::EcmpHash& hash, const Choice& choice,
                                        std::span<const uint32_t> members);

// "IP_PROTOCOL alone reaches 2 of 4 links: CRC is linear, …", of a field that does not spread.
std::string reach_text(const std::string& field, const FieldReach& reach, const dataplane::EcmpHash& hash,
                       uint32_t buckets);

}  // namespace softspine::analysis
