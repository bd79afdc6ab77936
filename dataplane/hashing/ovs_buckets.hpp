// SPDX-License-Identifier: Apache-2.0
// How Open vSwitch deals the values of dp_hash out to the buckets of a select group:
//
//   values = the smallest power of two ≥ the largest of three numbers: 16; ⌈sum of weights / smallest weight⌉; and
//            4 × buckets, but at most 256
//   the bucket of a hash = owner of hash % values; if it is not alive, of the next value whose owner is, in a circle
//
// Values are dealt in turn, each to the bucket with the largest weight / (2 × values it has + 1), of equal ones the
// first (Webster's method). So a table's size is a power of two, whatever the number of buckets is.
// Source: ofproto/ofproto-dpif.c and ofproto/ofproto-dpif-xlate.c of OVS 3.1.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace softspine::dataplane {

inline constexpr uint32_t kMaxOvsHashValues = 256;

// More than kMaxOvsHashValues: OVS takes another hash for the group. Weights are at least 1.
inline uint64_t ovs_hash_values(std::span<const uint32_t> weights) {
  if (weights.empty()) return 0;
  const uint64_t sum = std::accumulate(weights.begin(), weights.end(), uint64_t{0});
  const uint64_t least = *std::ranges::min_element(weights);
  const uint64_t four_each = std::min<uint64_t>(4 * weights.size(), kMaxOvsHashValues);
  return std::bit_ceil(std::max({uint64_t{16}, (sum + least - 1) / least, four_each}));
}

// The owner of each value, by its place among the weights.
inline std::vector<uint32_t> ovs_owners(std::span<const uint32_t> weights) {
  std::vector<uint64_t> divisors(weights.size(), 1);
  std::vector<uint32_t> owners(ovs_hash_values(weights));
  for (uint32_t& owner : owners) {
    owner = 0;
    for (uint32_t i = 1; i < weights.size(); ++i) {
      if (weights[i] * divisors[owner] > weights[owner] * divisors[i]) owner = i;
    }
    divisors[owner] += 2;
  }
  return owners;
}

}  // namespace softspine::dataplane
