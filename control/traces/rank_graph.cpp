// SPDX-License-Identifier: Apache-2.0
#include "control/traces/rank_graph.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

namespace softspine::control {
namespace {

void sort_needs(std::vector<uint64_t>& needs) {
  if (!std::ranges::is_sorted(needs)) std::ranges::sort(needs);
  const auto rest = std::ranges::unique(needs);
  needs.erase(rest.begin(), rest.end());
}

}  // namespace

void RankGraph::clear() {
  done_.clear();
  started_.clear();
  circle_.clear();
  goes_forward_ = false;
}

std::span<const uint64_t> RankGraph::of(const std::vector<uint64_t>& needs, uint32_t operation) {
  const auto first = std::ranges::lower_bound(needs, uint64_t{operation} << 32);
  auto last = first;
  while (last != needs.end() && *last >> 32 == operation) ++last;
  return {first, last};
}

std::vector<uint32_t> RankGraph::order(uint32_t operations) {
  sort_needs(done_);
  sort_needs(started_);
  if (goes_forward_) return sorted(operations);
  std::vector<uint32_t> out(operations);
  std::iota(out.begin(), out.end(), 0U);
  return out;
}

// Of those that need nothing any more the first one of the file, again and again.
std::vector<uint32_t> RankGraph::sorted(uint32_t operations) {
  std::vector<uint32_t> missing(operations);
  std::vector<uint64_t> users;  // other << 32 | operation
  users.reserve(done_.size() + started_.size());
  for (const auto* needs : {&done_, &started_}) {
    for (const uint64_t need : *needs) {
      ++missing[need >> 32];
      users.push_back(need << 32 | need >> 32);
    }
  }
  std::ranges::sort(users);
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t i = 0; i < operations; ++i) {
    if (missing[i] == 0) ready.push(i);
  }
  std::vector<uint32_t> out;
  while (!ready.empty()) {
    const uint32_t next = ready.top();
    ready.pop();
    out.push_back(next);
    for (const uint64_t user : of(users, next)) {
      if (--missing[static_cast<uint32_t>(user)] == 0) ready.push(static_cast<uint32_t>(user));
    }
  }
  if (out.size() == operations) return out;
  find_circle(missing);
  return {};
}

// From one that misses something to what it misses, until one comes again.
void RankGraph::find_circle(const std::vector<uint32_t>& missing) {
  std::vector<uint32_t> way;
  std::vector<bool> seen(missing.size());
  auto at = static_cast<uint32_t>(std::ranges::find_if(missing, [](uint32_t it) { return it > 0; }) - missing.begin());
  while (!seen[at]) {
    seen[at] = true;
    way.push_back(at);
    for (const auto& needs : {done_needs(at), started_needs(at)}) {
      for (const uint64_t need : needs) {
        if (missing[static_cast<uint32_t>(need)] > 0) at = static_cast<uint32_t>(need);
      }
    }
  }
  circle_.assign(std::ranges::find(way, at), way.end());
}

}  // namespace softspine::control
