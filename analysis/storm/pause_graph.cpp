// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/pause_graph.hpp"

#include <algorithm>
#include <tuple>

#include "analysis/storm/strong_components.hpp"

namespace softspine::analysis::storm {

namespace {

bool is_up(const PauseLog& log, uint32_t port) {
  const uint32_t peer = log.ports[port].peer;
  if (peer == kNone) return false;
  const int here = log.nodes[log.node_of(port)].tier;
  const int there = log.nodes[log.node_of(peer)].tier;
  return here != kNoTier && there > here;
}

}  // namespace

bool may_cause(const PauseLog& log, const Pause& first, const Pause& second, Turns turns) {
  if (first.priority != second.priority && first.priority != kAllPriorities && second.priority != kAllPriorities) {
    return false;
  }
  if (first.to == second.from || log.node_of(first.to) != log.node_of(second.from)) return false;
  if (log.nodes[log.node_of(second.from)].tier == 0) return false;
  return turns == Turns::kAny || !(is_up(log, first.to) && is_up(log, second.from));
}

PauseGraph::PauseGraph(const PauseLog& log)
    : log_(log), asked_by_(log.nodes.size()), stopping_(log.nodes.size()), unreached_(log.nodes.size()) {}

void PauseGraph::set(std::span<const uint32_t> active) {
  for (const uint32_t index : active_) {
    asked_by_[log_.node_of(log_.pauses[index].from)].clear();
    stopping_[log_.node_of(log_.pauses[index].to)].clear();
  }
  active_.assign(active.begin(), active.end());
  for (uint32_t place = 0; place < active_.size(); ++place) {
    asked_by_[log_.node_of(pause(place).from)].push_back(place);
    stopping_[log_.node_of(pause(place).to)].push_back(place);
  }
}

bool PauseGraph::has_cause(uint32_t place, Turns turns) const {
  const Pause& it = pause(place);
  return std::ranges::any_of(stopping_[log_.node_of(it.from)],
                             [&](uint32_t other) { return may_cause(log_, pause(other), it, turns); });
}

template <typename Visit>
void PauseGraph::for_each_effect(uint32_t place, Turns turns, Visit visit) const {
  const Pause& it = pause(place);
  for (const uint32_t other : asked_by_[log_.node_of(it.to)]) {
    if (may_cause(log_, it, pause(other), turns)) visit(other);
  }
}

std::vector<uint32_t> PauseGraph::roots(Turns turns, const std::vector<bool>& known) const {
  std::vector<uint32_t> found;
  for (uint32_t place = 0; place < active_.size(); ++place) {
    if ((!known.empty() && known[active_[place]]) || !has_cause(place, turns)) found.push_back(place);
  }
  std::ranges::sort(found, {}, [this](uint32_t place) { return std::tuple{pause(place).span.begin, active_[place]}; });
  return found;
}

// A node's pauses are looked at until they are reached, not again by each of many that lead to them.
PauseGraph::Reach PauseGraph::reach(Turns turns, const std::vector<bool>& known) {
  for (const uint32_t index : active_) {
    const uint32_t node = log_.node_of(log_.pauses[index].from);
    if (active_[asked_by_[node].front()] == index) unreached_[node] = asked_by_[node];
  }
  Reach out{.root = std::vector<uint32_t>(size(), kNone), .hops = std::vector<uint32_t>(size(), 0)};
  std::vector<uint32_t> next;
  for (const uint32_t root : roots(turns, known)) {
    if (out.root[root] != kNone) continue;  // known to be one, but an older one leads to it
    next.assign(1, root);
    out.root[root] = root;
    for (size_t i = 0; i < next.size(); ++i) {
      const uint32_t here = next[i];
      const uint32_t stopped = log_.node_of(pause(here).to);
      if (asked_by_[stopped].empty()) continue;
      std::erase_if(unreached_[stopped], [&](uint32_t effect) {
        if (out.root[effect] != kNone) return true;
        if (!may_cause(log_, pause(here), pause(effect), turns)) return false;
        out.root[effect] = root;
        out.hops[effect] = out.hops[here] + 1;
        next.push_back(effect);
        return true;
      });
    }
  }
  return out;
}

std::vector<std::vector<uint32_t>> PauseGraph::cycles(Turns turns, const std::vector<bool>& wanted) const {
  // A pause without a cause is in no cycle.
  const auto may_be_in = [&](uint32_t place) { return (wanted.empty() || wanted[place]) && has_cause(place, turns); };
  return strong_components(static_cast<uint32_t>(size()), [&](uint32_t place) {
    std::vector<uint32_t> effects;
    if (!may_be_in(place)) return effects;
    for_each_effect(place, turns, [&](uint32_t effect) {
      if (may_be_in(effect)) effects.push_back(effect);
    });
    return effects;
  });
}

std::vector<uint32_t> PauseGraph::way_around(Turns turns, const std::vector<uint32_t>& cycle) const {
  const uint32_t start = *std::ranges::min_element(cycle, {}, [this](uint32_t place) { return active_[place]; });
  std::vector<bool> inside(size(), false);
  for (const uint32_t place : cycle) inside[place] = true;
  std::vector<uint32_t> came_from(size(), kNone);
  std::vector<uint32_t> next{start};
  bool closed = false;
  for (size_t i = 0; i < next.size() && !closed; ++i) {
    for_each_effect(next[i], turns, [&](uint32_t effect) {
      if (!inside[effect] || came_from[effect] != kNone || closed) return;
      came_from[effect] = next[i];
      closed = effect == start;
      next.push_back(effect);
    });
  }
  std::vector<uint32_t> way;
  for (uint32_t place = came_from[start]; place != start && place != kNone; place = came_from[place]) {
    way.push_back(place);
  }
  way.push_back(start);
  std::ranges::reverse(way);
  return way;
}

}  // namespace softspine::analysis::storm
