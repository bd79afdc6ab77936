// SPDX-License-Identifier: Apache-2.0
#include "analysis/reading/link_way.hpp"

namespace softspine::analysis {

using control::LinkEnd;
using storm::Way;

// Down from the node, over links to lower tiers.
bool LinkWay::is_below(uint32_t host, uint32_t node) {
  if (host == control::kNone) return false;
  auto [found, is_new] = below_.try_emplace(node);
  std::vector<bool>& below = found->second;
  if (is_new) {
    below.resize(fabric_.nodes.size());
    std::vector<uint32_t> todo{node};
    while (!todo.empty()) {
      const uint32_t at = todo.back();
      todo.pop_back();
      if (below[at]) continue;
      below[at] = true;
      for (uint16_t p = 0; p < fabric_.nodes[at].ports.size(); ++p) {
        const uint32_t peer = fabric_.peer_of({at, p}).node;
        if (tier_of(fabric_.nodes[peer].role) < tier_of(fabric_.nodes[at].role)) todo.push_back(peer);
      }
    }
  }
  return below[host];
}

Way LinkWay::of(LinkEnd port, uint32_t source, uint32_t destination) {
  const uint32_t peer = fabric_.peer_of(port).node;
  const int here = tier_of(fabric_.nodes[port.node].role);
  const int there = tier_of(fabric_.nodes[peer].role);
  if (here == there) return Way::kUnknown;
  const uint32_t lower = here < there ? port.node : peer;
  const bool from_below = is_below(source, lower);
  if (from_below == is_below(destination, lower)) return Way::kUnknown;
  return from_below == (lower == port.node) ? Way::kOut : Way::kIn;
}

}  // namespace softspine::analysis
