// SPDX-License-Identifier: Apache-2.0
#include "control/routing/path_counts.hpp"

#include <algorithm>
#include <functional>
#include <map>
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
  };

  // Routes lead up, then down: at most as deep as there are switches in a row.
  const Count& from(uint32_t node) {
    std::optional<Count>& known = known_[node];
    if (known) return *known;
    Count out;
    const uint32_t route = routes_[node].by_subnet[subnet_];
    if (route == RouteTable::kConnected) {
      out = {1, 1};
    } else if (route != kNone) {
      for (const uint16_t port : routes_[node].groups[route]) {
        const Count& next = from(fabric_.peer_of({node, port}).node);
        out = {next.switches + 1, sum_of(out.paths, next.paths)};
      }
    }
    known = out;
    return *known;
  }

 private:
  const Fabric& fabric_;
  uint32_t subnet_;
  std::vector<RouteTable> routes_;
  std::vector<std::optional<Count>> known_;
};

}  // namespace

std::optional<PathCounts> count_paths(const Fabric& fabric) {
  const auto host = std::ranges::find_if(fabric.nodes, [&](const FabricNode& node) {
    return node.kind == NodeKind::kHost && node.subnet != kNone && !fabric.subnets[node.subnet].switches.empty();
  });
  if (host == fabric.nodes.end()) return std::nullopt;
  PathCounts out{.to = static_cast<uint32_t>(host - fabric.nodes.begin())};
  PathCounter counter(fabric, host->subnet);
  std::map<std::pair<uint32_t, uint64_t>, uint32_t, std::greater<>> tors;
  std::vector<bool> seen(fabric.nodes.size(), false);
  for (const Subnet& subnet : fabric.subnets) {
    for (const uint32_t tor : subnet.switches) {
      if (seen[tor]) continue;
      seen[tor] = true;
      const PathCounter::Count& count = counter.from(tor);
      if (count.switches == 0) {
        ++out.tors_without_way;
      } else {
        ++tors[{count.switches, count.paths}];
      }
    }
  }
  for (const auto& [kind, number] : tors) out.from.push_back({kind.first, kind.second, number});
  return out;
}

}  // namespace softspine::control
