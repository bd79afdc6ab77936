// SPDX-License-Identifier: Apache-2.0
// How far one field of a key gets by itself.
//
// A linear hash (a CRC, XOR, Toeplitz) of keys that differ in one field is that of one of them, exclusive or any sum of
// what the field's bits change alone. If few of these changes are independent, few values of the hash come, and no
// packets, however many, use all links. So a field that is in the key may still spread nothing.
#pragma once

#include <vector>

#include "control/explain/walker.hpp"

namespace softspine::control {

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

// Of each part of the choice's key, in that order, which `hash` hashed among `members` (a next hop for each bucket).
// Empty if no algebra says anything: of a hash that mixes or draws, of RTAG7's blocks, of symmetric keys.
std::vector<FieldReach> reach_of_fields(const dataplane::EcmpHash& hash, const Choice& choice,
                                        std::span<const uint32_t> members);

// "IP_PROTOCOL alone reaches 2 of 4 links: CRC is linear, …", of a field that does not spread.
std::string reach_text(const std::string& field, const FieldReach& reach, const dataplane::EcmpHash& hash,
                       uint32_t buckets);

}  // namespace softspine::control
