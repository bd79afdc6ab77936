// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/attribution.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "analysis/storm/stretches.hpp"

namespace softspine::analysis::storm {

using dataplane::Instant;

namespace {

class Sweep {
 public:
  Sweep(const PauseLog& log, const PauseMarks& marks) : log_(log), graph_(log), lasting_(log), marks_(marks) {}

  Attribution run(const std::vector<uint32_t>& selected) {
    overlap_ = any_overlap(selected);
    std::vector<uint32_t> active;
    size_t next = 0;
    const Stretches all = stretches_of(log_, selected);
    out_.is_sampled = all.is_sampled;
    for (const Stretch& stretch : all.stretches) {
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
    is_again_.assign(active.size(), false);
    std::set<Key> keys;
    for (uint32_t place = 0; overlap_ && place < active.size(); ++place) {
      is_again_[place] = !keys.insert(key_of(log_.pauses[active[place]])).second;
    }
  }

  using Key = std::tuple<uint32_t, uint32_t, uint8_t>;
  static Key key_of(const Pause& pause) { return {pause.from, pause.to, pause.priority}; }
  // Whether any two pauses of one link and priority are on at once.
  bool any_overlap(const std::vector<uint32_t>& selected) const {
    std::map<Key, Instant> ends;
    for (const uint32_t index : selected) {
      const PauseSpan& span = log_.pauses[index].span;
      Instant& end = ends.try_emplace(key_of(log_.pauses[index]), span.begin).first->second;
      if (span.begin < end) return true;
      end = std::max(end, span.end);
    }
    return false;
  }

  void look_at(const Stretch& stretch) {
    for (uint32_t place = 0; place < graph_.size(); ++place) {
      if (reach_.root[place] != kNone && !is_again_[place]) give(place, reach_, stretch);
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
    const auto [it, is_new] =
        shares_.try_emplace({node, root.priority, pause.from, pause.to}, Share{.root = node,
                                                                               .root_priority = root.priority,
                                                                               .from = pause.from,
                                                                               .to = pause.to,
                                                                               .first = first,
                                                                               .time = {},
                                                                               .hops = reach.hops[place]});
    it->second.time += paused_in(pause.span, stretch);
    it->second.first = std::min(it->second.first, first);
    it->second.hops = std::min(it->second.hops, reach.hops[place]);
  }

  // An entry of several pauses is off in between.
  static dataplane::Duration paused_in(const PauseSpan& span, const Stretch& stretch) {
    if (span.pauses == 1) return stretch.length();
    const double share = static_cast<double>(span.paused().count_ps()) /
                         static_cast<double>(std::max<int64_t>(1, (span.end - span.begin).count_ps()));
    return dataplane::Duration::ps(std::llround(share * static_cast<double>(stretch.length().count_ps())));
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
      it = cycles_.emplace(key, Cycle{.priority = priority_of(cycle), .begin = stretch.begin, .fed_by = fed_by}).first;
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

  // PFC's priority, if PAUSE and PFC are in one cycle.
  uint8_t priority_of(const std::vector<uint32_t>& cycle) const {
    uint8_t least = kAllPriorities;
    for (const uint32_t place : cycle) least = std::min(least, log_.pauses[lasting_.pause_at(place)].priority);
    return least;
  }

  const PauseLog& log_;
  PauseGraph graph_;         // all that are on
  PauseGraph lasting_;       // those that last
  PauseGraph::Reach reach_;  // in graph_
  bool overlap_ = false;
  std::vector<bool> is_again_;  // by place in graph_: another one of the same link and priority is on
  const PauseMarks& marks_;
  Attribution out_;
  std::map<std::tuple<uint32_t, uint8_t, uint32_t, uint32_t>, Share> shares_;
  std::map<std::vector<uint32_t>, Cycle> cycles_;
};

}  // namespace

Attribution attribute(const PauseLog& log, const std::vector<uint32_t>& selected, const PauseMarks& marks) {
  return Sweep{log, marks}.run(selected);
}

}  // namespace softspine::analysis::storm
