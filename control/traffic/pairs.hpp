// SPDX-License-Identifier: Apache-2.0
// Who sends to whom, by pattern:
//
//   permutation  each host sends to one other and receives from one: which one is drawn later (plan.hpp)
//   incast       each of `from` → to[0]
//   pairs        from[i] → to[i]
//   list         likewise, by a file; a pair may come again, and each has bytes and a start of its own
//   poisson      likewise, drawn before (poisson.hpp)
//   all_to_all   each ordered pair of different hosts
//   ring         each host → the next in the list, the last → the first
//
// What a host is does not matter here: a node of the fabric, a NIC of a job.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "control/model/workload.hpp"

namespace softspine::control {

// Whether a pattern has senders and receivers (`from`, `to`), and not one list of `hosts`.
constexpr bool has_two_ends(Pattern pattern) {
  return pattern == Pattern::kIncast || pattern == Pattern::kPairs;
}
constexpr bool has_one_receiver(Pattern pattern) {
  return pattern == Pattern::kIncast;
}
// Whether each pair has one message, of its own bytes and at its own instant (Workload::flows).
constexpr bool is_listed(Pattern pattern) {
  return pattern == Pattern::kList || pattern == Pattern::kPoisson;
}
// Whether each host has one receiver only, of those that pairs_of names.
constexpr bool is_drawn(Pattern pattern) {
  return pattern == Pattern::kPermutation;
}

// Each of `from` sends to each of `to`. `among`: both are the same hosts, and none sends to itself.
template <typename Host>
struct Senders {
  std::span<const Host> from;
  std::span<const Host> to;
  bool among = false;
};

// Calls see(Senders) for all, in the order of the lists. Of lists that differ in length the shorter one counts.
template <typename Host, typename See>
void pairs_of(Pattern pattern, std::span<const Host> hosts, std::span<const Host> from, std::span<const Host> to,
              See&& see) {
  switch (pattern) {
    case Pattern::kPermutation:
    case Pattern::kAllToAll: see(Senders<Host>{hosts, hosts, true}); break;
    case Pattern::kIncast: see(Senders<Host>{from, to.first(std::min<size_t>(to.size(), 1))}); break;
    case Pattern::kList:
    case Pattern::kPoisson:
    case Pattern::kPairs:
      for (size_t i = 0; i < std::min(from.size(), to.size()); ++i)
        see(Senders<Host>{from.subspan(i, 1), to.subspan(i, 1)});
      break;
    case Pattern::kRing:
      for (size_t i = 0; i < hosts.size(); ++i)
        see(Senders<Host>{hosts.subspan(i, 1), hosts.subspan((i + 1) % hosts.size(), 1)});
      break;
  }
}

template <typename See>
void pairs_of(const Workload& workload, See&& see) {
  pairs_of<uint32_t>(workload.pattern, workload.hosts, workload.from, workload.to, see);
}

// Flows, of `qps` queue pairs each.
inline uint64_t flows_of(const Workload& workload) {
  if (is_drawn(workload.pattern)) return workload.hosts.size();
  uint64_t flows = 0;
  pairs_of(workload, [&](const Senders<uint32_t>& senders) {
    flows += senders.from.size() * (senders.to.size() - (senders.among ? 1 : 0));
  });
  return flows;
}

}  // namespace softspine::control
