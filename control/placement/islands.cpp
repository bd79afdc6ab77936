// SPDX-License-Identifier: Apache-2.0
#include "control/placement/islands.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <unordered_map>

namespace softspine::control {
namespace {

// Nodes that hold together; the least of them stands for all.
class Union {
 public:
  explicit Union(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }

  uint32_t root(uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  void join(uint32_t a, uint32_t b) {
    const auto [low, high] = std::minmax({root(a), root(b)});
    parent_[high] = low;
  }

 private:
  std::vector<uint32_t> parent_;
};

TierIslands below(const Fabric& fabric, const std::vector<Server>& servers, const RoleRow& tier) {
  const auto is_below = [&](uint32_t node) { return tier_of(fabric.nodes[node].role) < tier.tier; };
  Union joined(fabric.nodes.size());
  for (const FabricLink& link : fabric.links) {
    if (is_below(link.a.node) && is_below(link.b.node)) joined.join(link.a.node, link.b.node);
  }
  for (const Server& server : servers) {
    for (const uint32_t nic : server.nics) joined.join(server.nics[0], nic);
  }
  TierIslands out{.role = tier.role};
  std::unordered_map<uint32_t, uint32_t> numbers;
  for (const Server& server : servers) {
    const auto [found, is_new] = numbers.try_emplace(joined.root(server.nics[0]), out.islands);
    out.islands += is_new ? 1 : 0;
    out.island_of.push_back(found->second);
  }
  std::vector<double> hosts(out.islands, 0);
  std::vector<double> up(out.islands, 0);
  for (const FabricLink& link : fabric.links) {
    for (const auto& [end, other] : {std::pair{link.a, link.b}, {link.b, link.a}}) {
      const auto island = is_below(end.node) ? numbers.find(joined.root(end.node)) : numbers.end();
      if (island == numbers.end()) continue;
      const auto rate = static_cast<double>(link.rate.count_bps());
      if (fabric.nodes[end.node].kind == NodeKind::kHost) hosts[island->second] += rate;
      if (!is_below(other.node)) up[island->second] += rate;
    }
  }
  for (uint32_t i = 0; i < out.islands; ++i) out.oversubscribed.push_back(up[i] > 0 ? hosts[i] / up[i] : 0);
  return out;
}

}  // namespace

std::vector<Server> servers_of(const Fabric& fabric) {
  std::vector<Server> out;
  std::unordered_map<std::string_view, size_t> known;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const FabricNode& node = fabric.nodes[n];
    if (node.kind != NodeKind::kHost || !is_builtin(node.attachment)) continue;
    const auto [found, is_new] = known.try_emplace(node.server, out.size());
    if (is_new) out.push_back({.name = node.server, .nics = {}});
    out[found->second].nics.push_back(n);
  }
  return out;
}

std::vector<TierIslands> islands_of(const Fabric& fabric, const std::vector<Server>& servers) {
  std::vector<TierIslands> out;
  const auto has = [&](const RoleRow& row) {
    return std::ranges::any_of(fabric.nodes, [&](const FabricNode& node) { return node.role == row.role; });
  };
  std::vector<const RoleRow*> tiers;
  for (const RoleRow& row : kSwitchRoles) {
    if (has(row)) tiers.push_back(&row);
  }
  for (const RoleRow* row : tiers | std::views::drop(1) | std::views::reverse) {
    out.push_back(below(fabric, servers, *row));
  }
  return out;
}

}  // namespace softspine::control
