// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/storm_analysis.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "analysis/storm/certainty.hpp"
#include "analysis/storm/hidden_causes.hpp"
#include "analysis/storm/pause_runs.hpp"
#include "analysis/storm/storm_report.hpp"

namespace softspine::analysis::storm {

using dataplane::Duration;
using dataplane::Instant;
using dataplane::Rate;

namespace {

constexpr Duration kLongestThreshold = Duration::ms(200);
constexpr int64_t kCaptureShare = 10;
constexpr int64_t kVictimParts = 20;

class Judge {
 public:
  Judge(const PauseLog& log, const StormRule& rule) : log_(log), rule_(rule), is_counted_(log.pauses.size()) {}

  Analysis judge() {
    list_links();
    for (const std::set<uint8_t>& priorities : priorities_to_judge()) judge(priorities);
    out_.hides_pauses = out_.links.empty() && log_.gaps.hides_all();
    for (const auto& [node, explained] : explained_) out_.origins.push_back({node, explained});
    std::ranges::stable_sort(out_.origins, std::greater{}, &Origin::explained);
    for (Storm& storm : out_.storms) finish(storm);
    std::ranges::stable_sort(out_.storms, std::greater{},
                             [](const Storm& storm) { return std::pair{storm.doubt.empty(), storm.explained}; });
    return std::move(out_);
  }

 private:
  Duration threshold_of(uint32_t port) const { return rule_.threshold(log_.length(), log_.ports[port].speed); }

  void list_links();
  std::vector<std::set<uint8_t>> priorities_to_judge() const;
  void judge(const std::set<uint8_t>& priorities);
  std::vector<Run> runs_of(const std::vector<uint32_t>& selected) const;
  std::vector<Run> lasting(const std::vector<Run>& runs) const;
  // By the node that stands still.
  using Stopped = std::map<uint32_t, std::vector<const Run*>>;
  Stopped by_stopped(const std::vector<Run>& runs) const {
    Stopped out;
    for (const Run& run : runs) out[log_.node_of(run.to)].push_back(&run);
    return out;
  }
  bool is_root(const Run& run, const Stopped& stopped) const;
  Storm& add_storm(const Run& run);
  void add_shares(Storm& storm, const std::vector<Share>& shares) const;
  std::set<uint32_t> keep_cycles(const std::vector<Cycle>& cycles, const std::vector<Run>& runs);
  std::vector<uint32_t> victims_of(const Cycle& cycle, const std::vector<Run>& runs) const;
  std::vector<uint32_t> by_name(const std::set<uint32_t>& nodes) const;
  void finish(Storm& storm);

  const PauseLog& log_;
  const StormRule& rule_;
  Analysis out_;
  std::map<uint32_t, Duration> explained_;  // by node
  std::map<uint32_t, size_t> storm_of_;     // by root
  std::vector<bool> is_counted_;            // by pause: in a storm's frames
};

void Judge::list_links() {
  std::map<std::tuple<uint32_t, uint32_t, uint8_t>, LinkPauses> links;
  std::map<std::tuple<uint32_t, uint32_t, uint8_t>, Instant> ends;
  Duration longest;
  for (uint32_t i = 0; i < log_.pauses.size(); ++i) {
    const auto& [from, to, priority, span] = log_.pauses[i];
    LinkPauses& link = links
                           .try_emplace({from, to, priority},
                                        LinkPauses{.from = from, .to = to, .priority = priority, .first = span.begin})
                           .first->second;
    link.pauses += span.pauses;
    link.frames += span.frames;
    link.xons += span.how == PauseEnd::kXon ? span.pauses : 0;
    link.lapsed += span.how == PauseEnd::kLapsed ? span.pauses : 0;
    // One that was captured twice counts once.
    Instant& known = ends.try_emplace({from, to, priority}, span.begin).first->second;
    const Duration more = span.paused_since(known);
    out_.is_sampled = out_.is_sampled || span.pauses > 1;
    if (span.end >= known) link.is_open = span.how == PauseEnd::kOpen;
    known = std::max(known, span.end);
    link.total += more;
    link.longest = std::max(link.longest, span.longest_one());
    out_.paused = sum(out_.paused, more);
    if (out_.longest == kNone || span.longest_one() > longest) {
      longest = span.longest_one();
      out_.longest = i;
    }
  }
  for (const auto& [key, link] : links) out_.links.push_back(link);
  std::ranges::stable_sort(out_.links, std::greater{}, &LinkPauses::total);
  for (const LinkPauses& link : out_.links) {
    const Duration threshold = threshold_of(link.from);
    out_.threshold_min = &link == &out_.links.front() ? threshold : std::min(out_.threshold_min, threshold);
    out_.threshold_max = std::max(out_.threshold_max, threshold);
  }
  out_.is_too_short = !out_.links.empty() && log_.length() < out_.threshold_min;
}

// Each alone; or all together if there is PAUSE among them, which any of them may cause and which may cause any.
std::vector<std::set<uint8_t>> Judge::priorities_to_judge() const {
  std::set<uint8_t> found;
  for (const Pause& pause : log_.pauses) found.insert(pause.priority);
  if (found.contains(kAllPriorities)) return {found};
  std::vector<std::set<uint8_t>> out;
  for (const uint8_t priority : found) out.push_back({priority});
  return out;
}

std::vector<Run> Judge::runs_of(const std::vector<uint32_t>& selected) const {
  std::map<std::pair<uint32_t, uint32_t>, std::map<uint8_t, Runs>> by_link;
  for (const uint32_t i : selected) by_link[{log_.pauses[i].from, log_.pauses[i].to}][log_.pauses[i].priority];
  for (const uint32_t i : selected) {
    const Pause& pause = log_.pauses[i];
    for (auto& [priority, runs] : by_link[{pause.from, pause.to}]) {
      if (pause.priority == priority || pause.priority == kAllPriorities) runs.add(i, pause, priority);
    }
  }
  std::vector<Run> out;
  for (const auto& [link, by_priority] : by_link) {
    for (const auto& [priority, runs] : by_priority) out.insert(out.end(), runs.all().begin(), runs.all().end());
  }
  return out;
}

std::vector<Run> Judge::lasting(const std::vector<Run>& runs) const {
  std::vector<Run> out;
  std::ranges::copy_if(runs, std::back_inserter(out), [&](const Run& run) {
    return run.length() >= threshold_of(run.from) && (run.is_uninterrupted() || run.is_intermittent());
  });
  return out;
}

void Judge::judge(const std::set<uint8_t>& priorities) {
  std::vector<uint32_t> selected;
  for (uint32_t i = 0; i < log_.pauses.size(); ++i) {
    if (priorities.contains(log_.pauses[i].priority)) selected.push_back(i);
  }
  const std::vector<Run> runs = runs_of(selected);
  const std::vector<Run> lasting = this->lasting(runs);
  PauseMarks marks{.lasts = std::vector<bool>(log_.pauses.size(), false),
                   .is_root = std::vector<bool>(log_.pauses.size(), false)};
  const Stopped stopped = by_stopped(lasting);
  for (const Run& run : lasting) {
    if (!run.is_uninterrupted()) continue;
    for (const uint32_t index : run.pauses) marks.lasts[index] = true;
  }
  std::vector<const Run*> roots;
  for (const Run& run : lasting) {
    if (!is_root(run, stopped)) continue;
    roots.push_back(&run);
    for (const uint32_t index : run.pauses) marks.is_root[index] = true;
  }
  Attribution found = attribute(log_, selected, marks);
  out_.is_sampled = out_.is_sampled || found.is_sampled;
  for (const Share& share : found.shares) explained_[share.root] = sum(explained_[share.root], share.time);
  const std::set<uint32_t> locked = keep_cycles(found.cycles, runs);
  std::set<uint32_t> nodes;
  Stopped by = by_stopped(runs);
  for (const Run* run : roots) {
    if (locked.contains(run->from)) continue;
    const uint32_t node = log_.node_of(run->from);
    std::string& doubt = add_storm(*run).doubt;
    if (doubt.empty()) doubt = doubt_by_hidden_causes(log_, *run, by[node], threshold_of(run->from));
    nodes.insert(node);
  }
  for (const uint32_t node : nodes) add_shares(out_.storms[storm_of_[node]], found.shares);
}

// Whether no other run on one port of its node lasts along with it.
bool Judge::is_root(const Run& run, const Stopped& stopped) const {
  const auto others = stopped.find(log_.node_of(run.from));
  if (others == stopped.end()) return true;
  std::map<std::pair<uint32_t, uint8_t>, Duration> together;  // by port of the node, and priority
  for (const Run* other : others->second) {
    if (!other->is_uninterrupted() && is_denser(run, *other)) continue;  // it goes on in between, this one does not
    if (!may_cause(log_, other->as_pause(), run.as_pause(), Turns::kUpDown)) continue;
    const Duration overlap = std::min(run.end, other->end) - std::max(run.begin, other->begin);
    if (overlap > Duration{}) together[{other->to, other->priority}] += overlap;
  }
  Duration most;
  for (const auto& [place, overlap] : together) most = std::max(most, overlap);
  return is_free(run, most, threshold_of(run.from));
}

// One storm for a node, whatever its ports and priorities.
Storm& Judge::add_storm(const Run& run) {
  const uint32_t root = log_.node_of(run.from);
  const auto [known, is_new] = storm_of_.try_emplace(root, out_.storms.size());
  if (is_new) out_.storms.push_back({.root = root, .begin = Instant::never()});
  Storm& storm = out_.storms[known->second];
  if (run.begin < storm.begin) {
    storm.begin = run.begin;
    storm.from = run.from;
    storm.to = run.to;
    storm.paused_percent = percent(run.paused, run.length());
  }
  if (run.end >= storm.end) storm.how = run.how;
  storm.end = std::max(storm.end, run.end);
  for (const uint32_t index : run.pauses) {
    if (!is_counted_[index]) storm.frames += log_.pauses[index].span.frames;
    is_counted_[index] = true;
  }
  if (run.has_pfc) storm.priorities |= static_cast<uint16_t>(1 << run.priority);
  if (run.stops_all()) storm.priorities |= static_cast<uint16_t>(1 << kAllPriorities);
  return storm;
}

// `shares`: by root. Those of other pauses of the node, at priorities of no storm, are not the storm's.
void Judge::add_shares(Storm& storm, const std::vector<Share>& shares) const {
  for (const Share& share : std::ranges::equal_range(shares, storm.root, {}, &Share::root)) {
    const uint16_t of_storm = storm.priorities | 1 << kAllPriorities;
    if ((of_storm >> share.root_priority & 1) == 0) continue;
    storm.explained = sum(storm.explained, share.time);
    storm.spread.push_back(share);
  }
}

// Keeps those that lasted, and returns the ports that are caught in one that nothing feeds.
std::set<uint32_t> Judge::keep_cycles(const std::vector<Cycle>& cycles, const std::vector<Run>& runs) {
  std::set<uint32_t> locked;
  for (const Cycle& cycle : cycles) {
    if (cycle.time < threshold_of(cycle.ports.front())) continue;
    const bool is_fed = cycle.fed_by != kNone;
    (is_fed ? out_.fed_cycles : out_.deadlocks).push_back(cycle);
    if (is_fed) continue;
    out_.deadlocks.back().victims = victims_of(cycle, runs);
    locked.insert(cycle.members.begin(), cycle.members.end());
  }
  return locked;
}

// Whom the pauses of the cycle stop through its own nodes, and on from there, while it is closed.
std::vector<uint32_t> Judge::victims_of(const Cycle& cycle, const std::vector<Run>& runs) const {
  const Turns turns = cycle.turns_up ? Turns::kAny : Turns::kUpDown;
  const Duration least = (cycle.end - cycle.begin) / kVictimParts;
  std::map<uint32_t, std::vector<const Run*>> by_asking;  // by the node that asks
  std::vector<const Run*> next;
  for (const Run& run : runs) {
    const Duration together = std::min(run.end, cycle.end) - std::max(run.begin, cycle.begin);
    if (together <= least || !run.is_uninterrupted()) continue;
    const bool is_member = std::ranges::binary_search(cycle.members, run.from);
    if (is_member) next.push_back(&run);
    if (!is_member) by_asking[log_.node_of(run.from)].push_back(&run);
  }
  std::set<uint32_t> locked;
  for (const uint32_t port : cycle.members) locked.insert(log_.node_of(port));
  std::set<uint32_t> found;
  for (size_t i = 0; i < next.size(); ++i) {
    const Pause cause = next[i]->as_pause();
    std::erase_if(by_asking[log_.node_of(cause.to)], [&](const Run* effect) {
      if (!may_cause(log_, cause, effect->as_pause(), turns)) return false;
      next.push_back(effect);
      if (!locked.contains(log_.node_of(effect->to))) found.insert(log_.node_of(effect->to));
      return true;
    });
  }
  return by_name(found);
}

std::vector<uint32_t> Judge::by_name(const std::set<uint32_t>& nodes) const {
  std::vector<uint32_t> out{nodes.begin(), nodes.end()};
  std::ranges::sort(out, {}, [this](uint32_t node) -> const std::string& { return log_.nodes[node].name; });
  return out;
}

// One entry for a link whatever the priorities, in the order in which they were reached.
void Judge::finish(Storm& storm) {
  std::string doubt = doubt_about(log_, storm.root, storm.from, {storm.begin, storm.end});
  if (!doubt.empty()) storm.doubt = std::move(doubt);
  std::map<std::pair<uint32_t, uint32_t>, Share> by_link;
  for (const Share& share : storm.spread) {
    const auto [it, is_new] = by_link.try_emplace({share.from, share.to}, share);
    if (is_new) continue;
    it->second.time = sum(it->second.time, share.time);
    it->second.first = std::min(it->second.first, share.first);
    it->second.hops = std::min(it->second.hops, share.hops);
  }
  for (auto& [link, share] : by_link) share.first = std::max(share.first, storm.begin);  // not of a pause before it
  storm.spread.clear();
  std::set<uint32_t> victims;
  for (const auto& [link, share] : by_link) {
    if (share.time < log_.length(storm.begin, storm.end) / kVictimParts) continue;
    storm.spread.push_back(share);
    const uint32_t node = log_.node_of(share.to);
    if (node != storm.root) victims.insert(node);
  }
  std::ranges::stable_sort(storm.spread, {}, [](const Share& s) { return std::tuple{s.first, s.hops, s.from}; });
  storm.victims = by_name(victims);
}

}  // namespace

Duration StormRule::threshold(Duration capture, Rate link) const {
  if (storm_after) return *storm_after;
  return std::min(std::max(capture / kCaptureShare, least_storm(link)), kLongestThreshold);
}

Analysis analyse(const PauseLog& log, const StormRule& rule) {
  return Judge{log, rule}.judge();
}

}  // namespace softspine::analysis::storm
