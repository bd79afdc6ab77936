// SPDX-License-Identifier: Apache-2.0
// A switch's link aggregation groups: the second choice on a packet's way out.
//
//   route: next hop → port or LAG   pick_link: LAG → port = members[first + bucket], bucket by a hash of its own
//
// In a next hop and, until pick_link, in a packet's meta a LAG stands in a port's place: LAG n is number kFirstLag + n.
// The key is that of the packet as it came, as ECMP's is; algorithm, fields, seed and offset are the LAGs' own. SAI has
// both hashes alike (SAI_SWITCH_ATTR_LAG_HASH, SAI_SWITCH_ATTR_LAG_DEFAULT_HASH_ALGORITHM, _SEED, _OFFSET).
//
// A LAG with too few members counts as having none: packets that are routed to it are dropped as no_member.
// Part of ForwardingState: immutable.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::dataplane {

inline constexpr uint16_t kFirstLag = 0x8000;
static_assert(kMaxPorts < kFirstLag);

constexpr bool is_lag(uint16_t port) {
  return port >= kFirstLag && port != kLocalPort;
}

struct LagTable {
  struct Lag {
    uint32_t first = 0;  // into `members`
    uint32_t count = 0;
    uint16_t way = 0;  // the first of all its ports, whichever are members now
  };
  std::vector<Lag> lags;
  std::vector<uint16_t> members;  // ports
  EcmpHash hash;

  const Lag& lag_at(uint16_t number) const { return lags[number - kFirstLag]; }
  std::span<const uint16_t> members_of(uint16_t number) const {
    return {members.data() + lag_at(number).first, lag_at(number).count};
  }
};

}  // namespace softspine::dataplane
