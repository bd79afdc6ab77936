// SPDX-License-Identifier: Apache-2.0
#include "control/routing/path_counts.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "control/routing/routes.hpp"

namespace softspine::control {
namespace {

uint64_t sum_of(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

class PathCounter {
 public:
  PathCounter(const Fabric& fabric, uint32_t subnet) : fabric_(fabric), subnet_(subnet), known_(fabric.nodes.size()) {
    std::vector<bool> wanted(fabric.subnets.size(), false);
    wanted[subnet] = true;
    routes_ = compute_routes_to(fabric, wanted);
  }

  struct Count {
    uint32_t switches = 0;  // 0: no way
    uint64_t paths = 0;
    std::vector<HopChoice> choices;  // of every hop from here on, also those without one
  };

  // Routes lead up, then down: at most as deep as there are switches in a row.
  const Count& from(uint32_t node) {
    std::optional<Count>& known = known_[node];
    if (known) return *known;
    Count out;
    const uint32_t route = routes_[node].by_subnet[subnet_];
    if (route == RouteTable::kConnected) {
      out = {.switches = 1, .paths = 1, .choices = {}};
    } else if (route != kNone) {
      const std::vector<uint16_t>& group = routes_[node].groups[route];
      out.choices = {{static_cast<uint32_t>(group.size()), static_cast<uint32_t>(fabric_.nodes[node].ports.size())}};
      for (const uint16_t port : group) add(from(fabric_.peer_of({node, port}).node), out);
    }
    known = out;
    return *known;
  }

 private:
  // All next hops are as far away.
  static void add(const Count& next, Count& out) {
    out.switches = next.switches + 1;
    out.paths = sum_of(out.paths, next.paths);
    out.choices.resize(std::max(out.choices.size(), next.choices.size() + 1));
    for (size_t i = 0; i < next.choices.size(); ++i) {
      HopChoice& here = out.choices[i + 1];
      here = {std::max(here.links, next.choices[i].links), std::max(here.ports, next.choices[i].ports)};
    }
  }

  const Fabric& fabric_;
  uint32_t subnet_;
  std::vector<RouteTable> routes_;
  std::vector<std::optional<Count>> known_;
};

std::vector<HopChoice> with_a_choice(std::vector<HopChoice> hops) {
  std::erase_if(hops, [](const HopChoice& hop) { return hop.links < 2; });
  return hops;
}

}  // namespace

uint64_t PathCount::product(uint32_t HopChoice::* of) const {
  uint64_t out = 1;
  for (const HopChoice& hop : choices) out = out > UINT64_MAX / (hop.*of) ? UINT64_MAX : out * (hop.*of);
  return out;
}

std::optional<PathCounts> count_paths(const Fabric& fabric) {
  const auto host = std::ranges::find_if(fabric.nodes, [&](const FabricNode& node) {
    return node.kind == NodeKind::kHost && node.subnet != kNone && !fabric.subnets[node.subnet].switches.empty();
  });
  if (host == fabric.nodes.end()) return std::nullopt;
  PathCounts out{.to = static_cast<uint32_t>(host - fabric.nodes.begin())};
  PathCounter counter(fabric, host->subnet);
  std::map<std::tuple<uint32_t, uint64_t, std::vector<HopChoice>>, uint32_t, std::greater<>> tors;
  std::vector<bool> seen(fabric.nodes.size(), false);
  for (const Subnet& subnet : fabric.subnets) {
    for (const uint32_t tor : subnet.switches) {
      if (seen[tor]) continue;
      seen[tor] = true;
      const PathCounter::Count& count = counter.from(tor);
      if (count.switches == 0) {
        ++out.tors_without_way;
      } else {
        ++tors[{count.switches, count.paths, with_a_choice(count.choices)}];
      }
    }
  }
  for (const auto& [kind, number] : tors) {
    const auto& [switches, paths, choices] = kind;
    out.from.push_back({.switches = switches, .paths = paths, .tors = number, .choices = choices});
  }
  return out;
}

}  // namespace softspine::control
