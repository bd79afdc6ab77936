// SPDX-License-Identifier: Apache-2.0
// An ECMP group: its next hops, and how one of them is chosen for a packet (mode and buckets).
//
//   bucket = f(mode) % buckets, but of Linux's hash threshold_bucket();   next hop = members[first + bucket]
//
//   hash      the hash (ecmp_hash.hpp)
//   in_port   the port that the packet came in by (HPN's core: no hash, hence no new collisions). A bucket whose
//             next hop is gone is kDeadMember: only its packets are spread, by the hash, over the live buckets,
//             which are stored after the group's buckets
//   flowlet   a random draw, kept while the flow's packets follow each other within the gap (flowlet_table.hpp)
//   spray     a random draw for each packet
// Pinned groups (by destination slice) are routes of their own: control compiles them, nothing is chosen here.
//
// Control assigns the buckets to members. Equal: one bucket each. Weighted: as many buckets as the member's weight.
// Resilient: a fixed number of buckets, of which only those of a dead member are reassigned (resilient_owner()). Open
// vSwitch's: by ovs_buckets.hpp.
//
// A draw is splitmix64 of (ForwardingState::chance, number of draws before it): the same for any number of workers. A
// switch draws four sequences, so that none depends on how packets came together in bursts: for groups and for LAGs, of
// packets in the order of their arrival, and of those that it makes or holds back itself.
#pragma once

#include <cstdint>

#include "dataplane/units/wide.hpp"

namespace softspine::dataplane {

enum class EcmpGroupMode : uint8_t { kHash, kInPort, kFlowlet, kSpray };

inline constexpr uint32_t kMaxEcmpGroupMembers = 512;
inline constexpr uint32_t kMaxEcmpGroupBuckets = 4096;

inline constexpr uint32_t kDeadMember = UINT32_MAX;

struct EcmpGroup {
  uint32_t first = 0;  // into ForwardingState::members
  uint32_t count = 0;  // of buckets
  EcmpGroupMode mode = EcmpGroupMode::kHash;
  uint32_t live = 0;  // in_port with dead buckets: the number of live buckets stored after the others

  constexpr EcmpGroup of_live() const { return {.first = first + count, .count = live}; }
};

// Linux's choice: the values of the hash's upper 31 bits are split into a range per bucket; the i-th of n ends before
// ⌊2^31 i / n⌉. The buckets of a member lie side by side, so this is also Linux's choice by weights.
constexpr uint32_t threshold_bucket(uint32_t hash, uint32_t buckets) {
  return static_cast<uint32_t>((uint64_t{buckets} * (2 * uint64_t{hash >> 1} + 1) - 1) >> 32);
}

// Which of `members` (> 0) owns a bucket of a resilient group, or `members` if none is alive; `alive(m)`: whether
// member m is. While all are alive, the owner is bucket % members. The buckets of a dead member go to the others in
// turn, each bucket in an order of its own: no other bucket moves, whichever member dies later, and each bucket
// returns when its owner does.
template <typename Alive>
uint32_t resilient_owner(uint32_t bucket, uint32_t members, Alive&& alive) {
  const uint32_t owner = bucket % members;
  if (alive(owner)) return owner;
  const uint32_t round = bucket / members;
  for (uint32_t i = 0; i + 1 < members; ++i) {
    const uint32_t other = (owner + 1 + (round + i) % (members - 1)) % members;
    if (alive(other)) return other;
  }
  return members;
}

// Random numbers that can be drawn again if the number of draws before them is known.
struct Draws {
  static constexpr uint64_t kApart = uint64_t{1} << 62;  // from one sequence to the next

  uint64_t drawn = 0;

  uint32_t next(uint64_t chance) noexcept {
    uint64_t z = chance + ++drawn * 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return static_cast<uint32_t>((z ^ z >> 31) >> 32);
  }
};

}  // namespace softspine::dataplane
