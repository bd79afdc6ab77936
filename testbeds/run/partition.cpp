// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "dataplane/engine/window_nest.hpp"
#include "testbeds/run/assembly.hpp"

namespace softspine::testbeds {

using control::Fabric;
using control::FabricNode;
using control::NodeKind;
using dataplane::NestLink;
using dataplane::WindowNest;

namespace {

// Nodes that one worker must have; the first is the lowest.
using Share = std::vector<uint32_t>;

void add_nodes(const WindowNest& nest, Share& out) {
  out.insert(out.end(), nest.nodes.begin(), nest.nodes.end());
  for (const WindowNest& group : nest.groups) add_nodes(group, out);
}

// The outermost parts of the fabric, in the order of their first nodes.
std::vector<Share> outermost_parts(const Fabric& fabric) {
  std::vector<NestLink> links;
  for (const control::FabricLink& link : fabric.links) {
    links.push_back({link.a.node, link.b.node, link.rate.time_of_frame(0) + link.propagation});
  }
  const WindowNest nest = dataplane::nest_windows(Share(fabric.nodes.size(), 0), links);
  std::vector<Share> parts;
  for (const uint32_t node : nest.nodes) parts.push_back({node});
  for (const WindowNest& group : nest.groups) add_nodes(group, parts.emplace_back());
  for (Share& part : parts) std::ranges::sort(part);
  std::ranges::sort(parts);
  return parts;
}

// The tier of a part's lowest switch; kHostTier: it has none.
int tier_of(const Fabric& fabric, const Share& part) {
  int lowest = control::kTopTier + 1;
  for (const uint32_t n : part) {
    if (fabric.nodes[n].kind == NodeKind::kSwitch) lowest = std::min(lowest, control::tier_of(fabric.nodes[n].role));
  }
  return lowest > control::kTopTier ? control::kHostTier : lowest;
}

}  // namespace

std::vector<uint32_t> spread_over_workers(const Fabric& fabric, uint32_t workers) {
  std::vector<uint32_t> out(fabric.nodes.size(), 0);
  std::vector<bool> dealt(fabric.nodes.size(), false);
  std::map<int, std::vector<Share>> tiers;
  for (Share& part : outermost_parts(fabric)) tiers[tier_of(fabric, part)].push_back(std::move(part));
  tiers.erase(control::kHostTier);
  for (const auto& [tier, parts] : tiers) {
    for (uint64_t i = 0; i < parts.size(); ++i) {
      for (const uint32_t n : parts[i]) {
        out[n] = static_cast<uint32_t>(i * workers / parts.size());
        dealt[n] = true;
      }
    }
  }
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (!dealt[n] && !fabric.nodes[n].ports.empty()) out[n] = out[fabric.peer_of({n, 0}).node];
  }
  return out;
}

}  // namespace softspine::testbeds
