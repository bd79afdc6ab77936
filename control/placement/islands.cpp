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

TierIslands below(const Fabric& fabric, const std::vector<PlacedServer>& servers, const RoleRow& tier) {
  const auto is_below = [&](uint32_t node) { return tier_of(fabric.nodes[node].role) < tier.tier; };
  Union joined(fabric.nodes.size());
  for (const FabricLink& link : fabric.links) {
    if (is_below(link.a.node) && is_below(link.b.node)) joined.join(link.a.node, link.b.node);
  }
  TierIslands out{.role = tier.role};
  std::unordered_map<uint32_t, uint32_t> parts;
  for (const PlacedServer& server : servers) {
    std::vector<uint32_t>& own = out.part_of.emplace_back();
    for (const uint32_t nic : server.nics) {
      const auto [found, is_new] = parts.try_emplace(joined.root(nic), out.parts);
      out.parts += is_new ? 1 : 0;
      own.push_back(found->second);
    }
  }
  Union held(out.parts);
  for (const std::vector<uint32_t>& own : out.part_of) {
    for (const uint32_t part : own) held.join(own[0], part);
  }
  std::unordered_map<uint32_t, uint32_t> islands;
  for (const std::vector<uint32_t>& own : out.part_of) {
    const auto [found, is_new] = islands.try_emplace(held.root(own[0]), out.islands);
    out.islands += is_new ? 1 : 0;
    out.island_of.push_back(found->second);
  }
  std::vector<double> hosts(out.parts, 0);
  std::vector<double> up(out.parts, 0);
  for (const FabricLink& link : fabric.links) {
    for (const auto& [end, other] : {std::pair{link.a, link.b}, {link.b, link.a}}) {
      const auto part = is_below(end.node) ? parts.find(joined.root(end.node)) : parts.end();
      if (part == parts.end()) continue;
      const auto rate = static_cast<double>(link.rate.count_bps());
      if (fabric.nodes[end.node].kind == NodeKind::kHost) hosts[part->second] += rate;
      if (!is_below(other.node)) up[part->second] += rate;
    }
  }
  for (uint32_t i = 0; i < out.parts; ++i) out.oversubscribed.push_back(up[i] > 0 ? hosts[i] / up[i] : 0);
  return out;
}

}  // namespace

std::vector<PlacedServer> servers_of(const Fabric& fabric) {
  std::vector<PlacedServer> out;
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

std::vector<TierIslands> islands_of(const Fabric& fabric, const std::vector<PlacedServer>& servers) {
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

std::vector<uint32_t> rails_of(const TierIslands& tier, std::span<const uint32_t> servers) {
  const size_t nics = servers.empty() ? 0 : tier.part_of[servers[0]].size();
  Union alike(nics);
  std::unordered_map<uint32_t, uint32_t> first;  // by part
  for (const uint32_t server : servers) {
    for (uint32_t nic = 0; nic < nics; ++nic)
      alike.join(first.try_emplace(tier.part_of[server][nic], nic).first->second, nic);
  }
  std::vector<uint32_t> out;
  for (uint32_t nic = 0; nic < nics; ++nic) out.push_back(alike.root(nic));
  return out;
}

}  // namespace softspine::control
