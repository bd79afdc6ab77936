// SPDX-License-Identifier: Apache-2.0
// A fabric as a plain graph, and textbook algorithms on it: what generators and routes are held against.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "control/model/fabric.hpp"

namespace softspine::tests {

class GraphOracle {
 public:
  explicit GraphOracle(const control::Fabric& fabric) : fabric_(fabric), next_(fabric.nodes.size() + 2) {
    for (const control::FabricLink& link : fabric.links) {
      const auto mbps = static_cast<int64_t>(link.rate.count_bps() / 1'000'000);
      join(link.a.node, link.b.node, mbps, mbps);
    }
  }

  // Shortest ways between two nodes, link by link (breadth first search).
  uint64_t shortest_ways(uint32_t from, uint32_t to) const {
    std::vector<uint64_t> ways(next_.size(), 0);
    std::vector<uint32_t> distance(next_.size(), UINT32_MAX);
    std::deque<uint32_t> queue{from};
    ways[from] = 1;
    distance[from] = 0;
    while (!queue.empty()) {
      const uint32_t n = queue.front();
      queue.pop_front();
      for (const size_t arc : next_[n]) {
        const uint32_t peer = arcs_[arc].to;
        if (peer >= fabric_.nodes.size()) continue;
        if (distance[peer] == UINT32_MAX) {
          distance[peer] = distance[n] + 1;
          queue.push_back(peer);
        }
        if (distance[peer] == distance[n] + 1) ways[peer] += ways[n];
      }
    }
    return ways[to];
  }

  // What can flow from one set of nodes to the other at a time, in Mb/s (Ford and Fulkerson, by breadth first search).
  // Once for each object.
  int64_t flow(const std::vector<uint32_t>& from, const std::vector<uint32_t>& to) {
    const auto source = static_cast<uint32_t>(fabric_.nodes.size());
    for (const uint32_t n : from) join(source, n, INT64_MAX / 4, 0);
    for (const uint32_t n : to) join(n, source + 1, INT64_MAX / 4, 0);
    int64_t total = 0;
    while (const int64_t more = push(source, source + 1)) total += more;
    return total;
  }

  std::set<uint32_t> reachable(uint32_t from) const {
    std::set<uint32_t> out{from};
    std::deque<uint32_t> queue{from};
    while (!queue.empty()) {
      for (const size_t arc : next_[queue.front()]) {
        if (out.insert(arcs_[arc].to).second) queue.push_back(arcs_[arc].to);
      }
      queue.pop_front();
    }
    return out;
  }

 private:
  struct Arc {
    uint32_t to;
    int64_t room;
  };
  void join(uint32_t a, uint32_t b, int64_t there, int64_t back) {
    next_[a].push_back(arcs_.size());
    arcs_.push_back({b, there});
    next_[b].push_back(arcs_.size());
    arcs_.push_back({a, back});
  }

  int64_t push(uint32_t source, uint32_t sink) {
    std::vector<size_t> by(next_.size(), SIZE_MAX);
    std::deque<uint32_t> queue{source};
    while (!queue.empty() && by[sink] == SIZE_MAX) {
      for (const size_t arc : next_[queue.front()]) {
        const uint32_t to = arcs_[arc].to;
        if (to == source || by[to] != SIZE_MAX || arcs_[arc].room == 0) continue;
        by[to] = arc;
        queue.push_back(to);
      }
      queue.pop_front();
    }
    if (by[sink] == SIZE_MAX) return 0;
    int64_t least = INT64_MAX;
    for (uint32_t n = sink; n != source; n = arcs_[by[n] ^ 1].to) least = std::min(least, arcs_[by[n]].room);
    for (uint32_t n = sink; n != source; n = arcs_[by[n] ^ 1].to) {
      arcs_[by[n]].room -= least;
      arcs_[by[n] ^ 1].room += least;
    }
    return least;
  }

  const control::Fabric& fabric_;
  std::vector<Arc> arcs_;  // each beside its reverse
  std::vector<std::vector<size_t>> next_;
};

// How many nodes of a role have so many ports.
inline std::map<size_t, size_t> degrees(const control::Fabric& fabric, control::Role role) {
  std::map<size_t, size_t> out;
  for (const control::FabricNode& node : fabric.nodes) {
    if (node.role == role) ++out[node.ports.size()];
  }
  return out;
}

// The hosts whose name begins so.
inline std::vector<uint32_t> hosts_of(const control::Fabric& fabric, std::string_view beginning) {
  std::vector<uint32_t> out;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind == control::NodeKind::kHost && fabric.nodes[n].name.starts_with(beginning))
      out.push_back(n);
  }
  return out;
}

}  // namespace softspine::tests
