// SPDX-License-Identifier: Apache-2.0
#include "control/topology/node_order.hpp"

#include <cstdint>

namespace softspine::control {

std::vector<uint32_t> fabric_order(const Draft& draft) {
  const auto count = static_cast<uint32_t>(draft.nodes.size());
  std::vector<uint32_t> home(count, kNone);
  const auto rank = [&](uint32_t n) {
    return n == kNone ? uint64_t{UINT64_MAX} : (uint64_t{draft.nodes[n].role != Role::kTor} << 32) | n;
  };
  const auto consider = [&](uint32_t host, uint32_t other) {
    if (draft.nodes[host].kind != NodeKind::kHost || draft.nodes[other].kind != NodeKind::kSwitch) return;
    if (rank(other) < rank(home[host])) home[host] = other;
  };
  for (const DraftLink& link : draft.links) {
    consider(link.a.node, link.b.node);
    consider(link.b.node, link.a.node);
  }
  std::vector<std::vector<uint32_t>> guests(count);
  for (uint32_t n = 0; n < count; ++n) {
    if (home[n] != kNone) guests[home[n]].push_back(n);
  }
  std::vector<uint32_t> order;
  order.reserve(count);
  for (uint32_t n = 0; n < count; ++n) {
    if (home[n] != kNone) continue;
    order.push_back(n);
    order.insert(order.end(), guests[n].begin(), guests[n].end());
  }
  return order;
}

}  // namespace softspine::control
