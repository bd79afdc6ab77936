// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/joined_series.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace softspine::testbeds {

using control::PortChanges;

namespace {

constexpr PortChanges kNoChange{.port = false, .priorities = 0, .groups = 0, .queues = 0};

bool is_any(const PortChanges& changes) {
  return changes.port || changes.priorities != 0 || changes.groups != 0 || changes.queues != 0;
}

// A node that has changed: `number` among its rank's switches, hosts, and edges.
struct ChangedSwitch {
  uint32_t number = 0;
  control::SwitchSnapshot is;
  std::vector<PortChanges> changes;
};
struct ChangedHost {
  uint32_t number = 0;
  control::HostSnapshot is;
  std::vector<PortChanges> changes;
};
struct ChangedEdge {
  uint32_t number = 0;
  control::EdgeSnapshot is;
  std::vector<PortChanges> changes;
};
struct ChangedNodes {
  std::vector<ChangedSwitch> switches;
  std::vector<ChangedHost> hosts;
  std::vector<ChangedEdge> edges;
};

size_t ports_of(const control::SwitchSnapshot& node) {
  return node.ports.size();
}
size_t ports_of(const control::HostSnapshot& node) {
  return node.ports.size();
}
size_t ports_of(const control::EdgeSnapshot&) {
  return 1;
}

template <typename Node, typename Changed>
void add_changed(const std::vector<Node>& nodes, std::span<const PortChanges> changes, bool always, uint32_t& number,
                 size_t& port, std::vector<Changed>& out) {
  for (const Node& node : nodes) {
    const auto its = changes.subspan(port, ports_of(node));
    if (always || std::ranges::any_of(its, is_any)) out.push_back({number, node, {its.begin(), its.end()}});
    ++number;
    port += ports_of(node);
  }
}

}  // namespace

JoinedSeries::JoinedSeries(const Ranks& ranks, const control::Fabric& fabric, control::FabricSnapshot all)
    : ranks_(ranks), all_(std::move(all)), places_(ranks.ranks()) {
  if (!ranks_.is_first()) return;
  size_t port = 0;
  std::unordered_map<std::string_view, uint32_t> ranks_of;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) ranks_of[fabric.nodes[n].name] = ranks_.rank_of(n);
  const auto place = [&](const auto& nodes) {
    for (size_t at = 0; at < nodes.size(); ++at) {
      places_[ranks_of.at(nodes[at].name)].push_back({at, port});
      port += ports_of(nodes[at]);
    }
  };
  place(all_.switches);
  place(all_.hosts);
  place(all_.edges);
  changes_.resize(port, kNoChange);
}

void JoinedSeries::update(const control::FabricSnapshot& mine, const std::vector<PortChanges>& changes, bool always) {
  ChangedNodes here;
  uint32_t number = 0;
  size_t port = 0;
  add_changed(mine.switches, changes, always, number, port, here.switches);
  add_changed(mine.hosts, changes, false, number, port, here.hosts);
  add_changed(mine.edges, changes, false, number, port, here.edges);
  all_.instant = mine.instant;
  std::ranges::fill(changes_, kNoChange);
  auto all = ranks_.collect(here);
  const auto take = [this](auto& node, size_t rank, auto& into) {
    const Place& place = places_[rank][node.number];
    into[place.node] = std::move(node.is);
    std::ranges::copy(node.changes, changes_.begin() + static_cast<ptrdiff_t>(place.first_port));
  };
  for (size_t r = 0; r < all.size(); ++r) {
    for (ChangedSwitch& node : all[r].switches) take(node, r, all_.switches);
    for (ChangedHost& node : all[r].hosts) take(node, r, all_.hosts);
    for (ChangedEdge& node : all[r].edges) take(node, r, all_.edges);
  }
}

}  // namespace softspine::testbeds
