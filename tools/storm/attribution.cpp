// SPDX-License-Identifier: Apache-2.0
#include "tools/storm/attribution.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace softspine::tools::storm {

using dataplane::Duration;
using dataplane::Instant;

namespace {

struct Stretch {
  Instant begin;
  Instant end;
  Duration length() const { return end - begin; }
  Instant middle() const { return begin + length() / 2; }
};

// Between two neighbouring changes nothing changes; or evenly spaced.
std::vector<Stretch> stretches_of(const PauseLog& log, const std::vector<uint32_t>& selected, bool& is_sampled) {
  std::vector<Instant> changes;
  for (const uint32_t index : selected) {
    changes.push_back(log.pauses[index].span.begin);
    changes.push_back(log.pauses[index].span.end);
  }
  std::ranges::sort(changes);
  changes.erase(std::unique(changes.begin(), changes.end()), changes.end());
  is_sampled = changes.size() > kMaxMoments;
  if (is_sampled) {
    const Instant first = changes.front();
    const Duration all = changes.back() - first;
    changes.clear();
    const Duration step = Duration::ps(std::max<int64_t>(1, all.count_ps() / static_cast<int64_t>(kMaxMoments)));
    for (int64_t i = 0; step * i < all; ++i) changes.push_back(first + step * i);
    changes.push_back(first + all);
  }
  std::vector<Stretch> out;
  for (size_t i = 1; i < changes.size(); ++i) out.push_back({changes[i - 1], changes[i]});
  return out;
}

class Sweep {
 public:
  Sweep(const PauseLog& log, uint8_t priority, const PauseMarks& marks)
      : log_(log), graph_(log), lasting_(log), marks_(marks), priority_(priority) {}

  Attribution run(const std::vector<uint32_t>& selected) {
    std::vector<uint32_t> active;
    size_t next = 0;
    for (const Stretch& stretch : stretches_of(log_, selected, out_.is_sampled)) {
      const Instant at = stretch.middle();
      bool is_new = std::erase_if(active, [&](uint32_t i) { return log_.pauses[i].span.end <= at; }) > 0;
      for (; next < selected.size() && log_.pauses[selected[next]].span.begin <= at; ++next) {
        if (log_.pauses[selected[next]].span.end <= at) continue;  // between two samples
        active.push_back(selected[next]);
        is_new = true;
      }
      if (is_new) set(active);
      if (!active.empty()) look_at(stretch);
    }
    for (auto& [key, share] : shares_) out_.shares.push_back(share);
    for (auto& [key, cycle] : cycles_) out_.cycles.push_back(std::move(cycle));
    std::ranges::stable_sort(out_.cycles, {}, &Cycle::begin);
    return std::move(out_);
  }

 private:
  void set(const std::vector<uint32_t>& active) {
    graph_.set(active);
    reach_ = graph_.reach(Turns::kUpDown, marks_.is_root);
    std::vector<uint32_t> lasting;
    std::ranges::copy_if(active, std::back_inserter(lasting), [this](uint32_t i) { return marks_.lasts[i]; });
    lasting_.set(lasting);
  }

  void look_at(const Stretch& stretch) {
    for (uint32_t place = 0; place < graph_.size(); ++place) {
      if (reach_.root[place] != kNone) give(place, reach_, stretch);
    }
    if (lasting_.size() < 2) return;
    const auto reach = lasting_.reach(Turns::kUpDown);
    for (const auto& cycle : lasting_.cycles(Turns::kUpDown, {})) {
      const uint32_t root = reach.root[cycle.front()];
      note(cycle, Turns::kUpDown, stretch,
           root == kNone ? kNone : log_.node_of(log_.pauses[lasting_.pause_at(root)].from));
    }
    look_for_upward_turns(stretch);
  }

  void give(uint32_t place, const PauseGraph::Reach& reach, const Stretch& stretch) {
    const Pause& pause = log_.pauses[graph_.pause_at(place)];
    const Pause& root = log_.pauses[graph_.pause_at(reach.root[place])];
    const uint32_t node = log_.node_of(root.from);
    const Instant first = std::max(pause.span.begin, root.span.begin);
    const auto [it, is_new] = shares_.try_emplace(
        {node, pause.from},
        Share{.root = node, .from = pause.from, .to = pause.to, .first = first, .time = {}, .hops = reach.hops[place]});
    it->second.time += stretch.length();
    it->second.first = std::min(it->second.first, first);
    it->second.hops = std::min(it->second.hops, reach.hops[place]);
  }

  // Cycles that close only if traffic turned upwards again, and that nothing outside feeds.
  void look_for_upward_turns(const Stretch& stretch) {
    const auto reach = lasting_.reach(Turns::kAny);
    std::vector<bool> unreached(lasting_.size());
    for (size_t i = 0; i < lasting_.size(); ++i) unreached[i] = reach.root[i] == kNone;
    if (std::ranges::find(unreached, true) == unreached.end()) return;
    for (const auto& cycle : lasting_.cycles(Turns::kAny, unreached)) note(cycle, Turns::kAny, stretch, kNone);
  }

  void note(const std::vector<uint32_t>& cycle, Turns turns, const Stretch& stretch, uint32_t fed_by) {
    std::vector<uint32_t> key;
    for (const uint32_t place : cycle) key.push_back(log_.pauses[lasting_.pause_at(place)].from);
    std::ranges::sort(key);
    auto it = cycles_.find(key);
    if (it == cycles_.end()) {
      if (cycles_.size() >= kMaxCycles) return;
      it = cycles_.emplace(key, Cycle{.priority = priority_, .begin = stretch.begin, .fed_by = fed_by}).first;
      it->second.turns_up = turns == Turns::kAny;
      it->second.members = key;
      for (const uint32_t place : lasting_.way_around(turns, cycle)) {
        it->second.ports.push_back(log_.pauses[lasting_.pause_at(place)].from);
      }
    } else if (it->second.end == stretch.end) {
      return;  // both readings have it
    }
    if (turns == Turns::kUpDown) it->second.turns_up = false;
    it->second.end = stretch.end;
    it->second.time += stretch.length();
  }

  const PauseLog& log_;
  PauseGraph graph_;         // all that are on
  PauseGraph lasting_;       // those that last
  PauseGraph::Reach reach_;  // in graph_
  const PauseMarks& marks_;
  uint8_t priority_;
  Attribution out_;
  std::map<std::pair<uint32_t, uint32_t>, Share> shares_;
  std::map<std::vector<uint32_t>, Cycle> cycles_;
};

}  // namespace

Attribution attribute(const PauseLog& log, uint8_t priority, const std::vector<uint32_t>& selected,
                      const PauseMarks& marks) {
  return Sweep{log, priority, marks}.run(selected);
}

}  // namespace softspine::tools::storm
