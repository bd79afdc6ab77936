// SPDX-License-Identifier: Apache-2.0
// Overrides of routes at a switch: an exact match on a packet's ingress port and on the prefix that is the longest
// match of its destination, looked up before the ECMP group. Traffic engineering installs them (Meta, SIGCOMM
// 2024: source port + destination prefix → path).
//
//   prefix trie → an OverrideSet ─┬─ an entry of the packet's port, and its link is up → that next hop       (hit)
//                                 ├─ an entry, but withdrawn, or its port's link is down → the route below (fall-back)
//                                 └─ none for this port                                  → the route below   (miss)
//
// A next hop may be a LAG: it is up while it has members, and one of them is chosen as for every packet that is routed
// there (lag_table.hpp).
// A set is a route of the trie, so a packet whose route has no override pays nothing. Control compiles an entry as
// *withdrawn* when its next hop is no longer one of the destination's routes. Where prefixes cover each other, control
// has put the entry of the longest one that names the port into each set, so that one lookup decides.
//
// Immutable, part of ForwardingState. Counted at the switch (OverrideCounters): hits, fall-backs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace softspine::dataplane {

struct OverrideCounters {
  uint64_t hits = 0;
  uint64_t fallbacks = 0;
};

struct OverrideEntry {
  static constexpr uint32_t kWithdrawn = UINT32_MAX;

  uint16_t in_port = 0;
  uint16_t out_port = 0;           // of a LAG: its first port
  uint32_t next_hop = kWithdrawn;  // of ForwardingState::adjacencies
  uint32_t number = 0;             // which of the switch's overrides it is, as control counts them
  bool is_withdrawn() const { return next_hop == kWithdrawn; }
};

struct OverrideSet {
  uint32_t route = 0;  // the route below the overrides: a packed RouteValue, or PrefixTrie::kMiss
  uint32_t first = 0;  // of the table's entries
  uint32_t count = 0;
};

class OverrideTable {
 public:
  // `entries`: one for each port at most. Returns the set's index.
  uint32_t add(uint32_t route, std::vector<OverrideEntry> entries) {
    std::ranges::sort(entries, {}, &OverrideEntry::in_port);
    sets_.push_back({route, static_cast<uint32_t>(entries_.size()), static_cast<uint32_t>(entries.size())});
    entries_.insert(entries_.end(), entries.begin(), entries.end());
    return static_cast<uint32_t>(sets_.size() - 1);
  }

  const OverrideSet& set(uint32_t index) const noexcept { return sets_[index]; }
  // Null: none for this port.
  const OverrideEntry* find(uint32_t index, uint16_t in_port) const noexcept {
    const OverrideSet& set = sets_[index];
    const OverrideEntry* const begin = entries_.data() + set.first;
    const OverrideEntry* const end = begin + set.count;
    const OverrideEntry* const found =
        std::lower_bound(begin, end, in_port, [](const OverrideEntry& it, uint16_t port) { return it.in_port < port; });
    return found != end && found->in_port == in_port ? found : nullptr;
  }
  const std::vector<OverrideEntry>& entries() const { return entries_; }

 private:
  std::vector<OverrideSet> sets_;
  std::vector<OverrideEntry> entries_;
};

// Ports whose link is down, as the switch itself sees it before routing reacts. No memory until the first goes down.
class DownPorts {
 public:
  void set(uint16_t port, bool down) {
    if (port >= down_.size()) {
      if (!down) return;
      down_.resize(port + 1U);
    }
    down_[port] = down;
  }
  bool contains(uint16_t port) const noexcept { return port < down_.size() && down_[port]; }

 private:
  std::vector<bool> down_;
};

}  // namespace softspine::dataplane
