// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/mac_log.hpp"

#include <algorithm>
#include <set>

#include "analysis/storm/pause_frame.hpp"

namespace softspine::analysis::storm {

void MacLog::transmitted(uint32_t port, uint64_t source, uint64_t destination) {
  if (pairs_.size() <= port) pairs_.resize(port + 1);
  auto& known = pairs_[port];
  const Pair pair{source, destination};
  if (!known.empty() && known.back() == pair) return;
  if (const auto it = std::ranges::find(known, pair); it != known.end()) {
    std::iter_swap(it, known.end() - 1);
    return;
  }
  if (owners_.size() < kMaxMacs && (source & kGroupBit) == 0) owners_.emplace(source, port);
  if (known.size() < kMaxPartners) known.push_back(pair);
}

// By port: the ports it may be linked to.
MacLog::Candidates MacLog::candidates(const std::vector<uint32_t>& node_of) const {
  std::set<std::pair<uint32_t, uint32_t>> sends_to;  // (port, node)
  for (uint32_t port = 0; port < pairs_.size(); ++port) {
    for (const Pair& pair : pairs_[port]) {
      const auto from = owners_.find(pair.source);
      const auto to = owners_.find(pair.destination);
      if (from == owners_.end() || to == owners_.end() || node_of[from->second] != node_of[port]) continue;
      if (node_of[to->second] != node_of[port]) sends_to.emplace(port, node_of[to->second]);
    }
  }
  std::unordered_map<uint32_t, std::vector<uint32_t>> ports_of;
  for (uint32_t port = 0; port < pairs_.size(); ++port) ports_of[node_of[port]].push_back(port);
  Candidates out(pairs_.size());
  for (const auto& [port, node] : sends_to) {
    for (const uint32_t other : ports_of[node]) {
      if (sends_to.contains({other, node_of[port]})) out[port].push_back(other);
    }
  }
  return out;
}

std::vector<std::pair<uint32_t, uint32_t>> MacLog::links(const std::vector<uint32_t>& node_of) const {
  Candidates left = candidates(node_of);
  std::vector<std::pair<uint32_t, uint32_t>> links;
  for (bool found = true; found;) {
    found = false;
    for (uint32_t port = 0; port < left.size(); ++port) {
      if (left[port].size() != 1) continue;
      const uint32_t other = left[port].front();
      links.emplace_back(std::min(port, other), std::max(port, other));
      found = true;
      left[port].clear();
      left[other].clear();
      for (auto& each : left) std::erase_if(each, [&](uint32_t p) { return p == port || p == other; });
    }
  }
  return links;
}

}  // namespace softspine::analysis::storm
