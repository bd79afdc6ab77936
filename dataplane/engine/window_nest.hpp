// SPDX-License-Identifier: Apache-2.0
// Which nodes share a window, from the links alone.
//
// Nodes that short links join (a rack) have short windows among themselves. Their cables to others are longer, so seen
// from outside they are one thing that runs for a long window at once: a group. Groups nest: rack in pod in
// fabric. The lookahead of a group is the smallest latency of a link between two of its parts (its nodes, and the
// groups in it): what one part sends in a window reaches another after it.
//
//   fabric   lookahead 255 ns   ┬ rack 1   lookahead 22 ns: tor1, h1, h2
//                               ├ rack 2   lookahead 22 ns: tor2, h3, h4
//                               └ spine1
//
// Latencies within a factor of two are one level: a level with hardly longer windows would gain nothing. A link between
// workers is never inside a group of the first level, since workers meet only between the fabric's own windows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

// The outermost windows are no longer than this, however long the cables: between two of them control acts, and a part
// that ran for longer would leave the others' packets waiting in memory, out of the caches.
inline constexpr Duration kLongestWindow = Duration::us(5);
// Between ranks on the wall clock: they meet as often as their network lets them, and a window has to be as long as a
// meeting takes.
inline constexpr Duration kLongestOverNetwork = Duration::ms(10);

struct NestLink {
  uint32_t a = 0;
  uint32_t b = 0;
  Duration latency;  // from the first bit sent to the last bit received, of the shortest frame
};

struct WindowNest {
  Duration lookahead = Duration::max();  // max(): no link joins two parts
  std::vector<uint32_t> nodes;           // those that are in none of `groups`; ascending
  std::vector<WindowNest> groups;        // in the order of their first node

  uint32_t first_node() const { return nodes.empty() ? groups.front().first_node() : nodes.front(); }
};

// `worker_of` has the worker of each node, from 0; there are as many nodes as it has elements.
WindowNest nest_windows(std::span<const uint32_t> worker_of, std::span<const NestLink> links);
// All nodes in one window.
WindowNest flat_windows(size_t nodes, std::span<const NestLink> links);

}  // namespace softspine::dataplane
