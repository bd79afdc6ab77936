// SPDX-License-Identifier: Apache-2.0
#include "dataplane/engine/window_nest.hpp"

#include <algorithm>
#include <numeric>

namespace softspine::dataplane {

namespace {

// Sets of nodes that are joined step by step; each is known by one of its nodes.
class Joined {
 public:
  explicit Joined(size_t nodes) : above_(nodes) { std::iota(above_.begin(), above_.end(), 0); }
  uint32_t of(uint32_t node) {
    while (above_[node] != node) node = above_[node] = above_[above_[node]];
    return node;
  }
  // False if they were in one set already. The lower number stands for the set.
  bool join(uint32_t a, uint32_t b) {
    a = of(a);
    b = of(b);
    if (a == b) return false;
    above_[std::max(a, b)] = std::min(a, b);
    return true;
  }

 private:
  std::vector<uint32_t> above_;
};

// The latencies at which the nodes grow together, shortest first: those of a minimum spanning forest.
std::vector<Duration> joints(size_t nodes, std::span<const NestLink> ascending) {
  Joined joined{nodes};
  std::vector<Duration> out;
  for (const NestLink& link : ascending) {
    if (joined.join(link.a, link.b)) out.push_back(link.latency);
  }
  return out;
}

// Links of at least this latency lead from part to part; the longest joint, or the shortest one within half of it.
Duration border(std::span<const Duration> joints) {
  if (joints.empty()) return Duration::max();
  const Duration longest = joints.back();
  return *std::ranges::find_if(joints, [longest](Duration each) { return each >= longest / 2; });
}

// A part of the fabric by itself: its nodes have numbers of their own, from 0.
struct Part {
  std::vector<uint32_t> nodes;   // the fabric's numbers, ascending
  std::vector<NestLink> inside;  // by this part's numbers, ascending by latency
};

// The sets, in the order of their first node, and each link into the set that has both its ends.
std::vector<Part> parts_of(const Part& whole, Joined& joined) {
  std::vector<Part> parts;
  std::vector<uint32_t> part_at(whole.nodes.size());
  std::vector<uint32_t> number_at(whole.nodes.size());
  for (uint32_t n = 0; n < whole.nodes.size(); ++n) {
    const uint32_t first = joined.of(n);
    if (first == n) {
      part_at[n] = static_cast<uint32_t>(parts.size());
      parts.emplace_back();
    }
    Part& part = parts[part_at[n] = part_at[first]];
    number_at[n] = static_cast<uint32_t>(part.nodes.size());
    part.nodes.push_back(whole.nodes[n]);
  }
  for (const NestLink& link : whole.inside) {
    if (part_at[link.a] != part_at[link.b]) continue;
    parts[part_at[link.a]].inside.push_back({number_at[link.a], number_at[link.b], link.latency});
  }
  return parts;
}

// `longest`: links of this latency or more are between parts, whatever else.
WindowNest nest_of(const Part& whole, Duration longest) {
  const Duration from = std::min(border(joints(whole.nodes.size(), whole.inside)), longest);
  Joined joined{whole.nodes.size()};
  for (const NestLink& link : whole.inside) {
    if (link.latency >= from) break;
    joined.join(link.a, link.b);
  }
  WindowNest out;
  for (const NestLink& link : whole.inside) {
    if (joined.of(link.a) == joined.of(link.b)) continue;
    out.lookahead = link.latency;
    break;
  }
  for (const Part& part : parts_of(whole, joined)) {
    if (part.nodes.size() == 1) {
      out.nodes.push_back(part.nodes[0]);
    } else {
      out.groups.push_back(nest_of(part, Duration::max()));
    }
  }
  return out;
}

}  // namespace

WindowNest nest_windows(std::span<const uint32_t> worker_of, std::span<const NestLink> links) {
  Part whole;
  whole.nodes.resize(worker_of.size());
  std::iota(whole.nodes.begin(), whole.nodes.end(), 0);
  whole.inside.assign(links.begin(), links.end());
  std::ranges::stable_sort(whole.inside, {}, &NestLink::latency);
  const auto between =
      std::ranges::find_if(whole.inside, [&](const NestLink& link) { return worker_of[link.a] != worker_of[link.b]; });
  return nest_of(whole, between == whole.inside.end() ? Duration::max() : between->latency);
}

WindowNest flat_windows(size_t nodes, std::span<const NestLink> links) {
  WindowNest out;
  for (const NestLink& link : links) out.lookahead = std::min(out.lookahead, link.latency);
  out.nodes.resize(nodes);
  std::iota(out.nodes.begin(), out.nodes.end(), 0);
  return out;
}

}  // namespace softspine::dataplane
