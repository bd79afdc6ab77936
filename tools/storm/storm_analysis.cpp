// SPDX-License-Identifier: Apache-2.0
#include "tools/storm/storm_analysis.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "dataplane/units/wide.hpp"
#include "tools/storm/certainty.hpp"
#include "tools/storm/storm_report.hpp"

namespace softspine::tools::storm {

using dataplane::Duration;
using dataplane::Instant;
using dataplane::Rate;

namespace {

constexpr Duration kLongestThreshold = Duration::ms(200);
constexpr Duration kThresholdWithoutRate = Duration::ms(1);
constexpr uint64_t kTimers = 3;
constexpr uint64_t kTimerBytes = uint64_t{0xffff} * 64;
constexpr int64_t kCaptureShare = 10;
constexpr int64_t kPausedTenths = 8;
constexpr int64_t kLapsingParts = 20;  // of an intermittent pause, one is on
constexpr size_t kLapsingPauses = 5;
constexpr int64_t kFreeTenths = 2;
constexpr int64_t kVictimParts = 20;

// Pauses of one link and priority with no XON between them.
struct Run {
  std::vector<uint32_t> pauses;
  uint32_t from = 0;
  uint32_t to = 0;
  Instant begin;
  Instant end;
  PauseEnd how = PauseEnd::kOpen;
  Duration paused;
  uint64_t frames = 0;
  Duration length() const { return end - begin; }
  bool is_uninterrupted() const { return paused >= length() / 10 * kPausedTenths; }
  bool is_intermittent() const { return pauses.size() >= kLapsingPauses; }  // see Runs
};

// How much of the time, compared without dividing.
bool is_denser(const Run& a, const Run& b) {
  return dataplane::Uint128(static_cast<uint64_t>(a.paused.count_ps())) * static_cast<uint64_t>(b.length().count_ps()) >
         dataplane::Uint128(static_cast<uint64_t>(b.paused.count_ps())) * static_cast<uint64_t>(a.length().count_ps());
}

// Runs of one link and priority, made pause by pause.
class Runs {
 public:
  void add(uint32_t index, const Pause& pause) {
    if (!continues(pause)) {
      runs_.push_back({.pauses = {}, .from = pause.from, .to = pause.to, .begin = pause.span.begin});
    }
    Run& run = runs_.back();
    run.pauses.push_back(index);
    run.end = pause.span.end;
    run.how = pause.span.how;
    run.paused += pause.span.end - pause.span.begin;
    run.frames += pause.span.frames;
  }
  const std::vector<Run>& all() const { return runs_; }

 private:
  bool continues(const Pause& pause) const {
    if (runs_.empty() || runs_.back().how != PauseEnd::kLapsed) return false;
    return runs_.back().paused >= (pause.span.begin - runs_.back().begin) / kLapsingParts;  // whole periods
  }
  std::vector<Run> runs_;
};

class Judge {
 public:
  Judge(const PauseLog& log, const StormRule& rule) : log_(log), rule_(rule) {}

  Analysis judge() {
    list_links();
    for (const uint8_t priority : priorities_of(log_)) judge_priority(priority);
    for (const auto& [node, explained] : explained_) out_.origins.push_back({node, explained});
    std::ranges::stable_sort(out_.origins, std::greater{}, &Origin::explained);
    for (Storm& storm : out_.storms) finish(storm);
    std::ranges::stable_sort(out_.storms, std::greater{},
                             [](const Storm& storm) { return std::pair{storm.doubt.empty(), storm.explained}; });
    return std::move(out_);
  }

 private:
  Duration threshold_of(uint32_t port) const { return rule_.threshold(log_.end - log_.begin, log_.ports[port].speed); }

  void list_links();
  void judge_priority(uint8_t priority);
  bool is_root(const Run& run, const std::vector<Run>& lasting) const;
  void add_storm(uint8_t priority, const Run& run, const Attribution& found);
  std::set<uint32_t> keep_cycles(const std::vector<Cycle>& cycles);
  void finish(Storm& storm);

  const PauseLog& log_;
  const StormRule& rule_;
  Analysis out_;
  std::map<uint32_t, Duration> explained_;  // by node
};

void Judge::list_links() {
  std::map<std::tuple<uint32_t, uint32_t, uint8_t>, LinkPauses> links;
  Duration longest;
  for (uint32_t i = 0; i < log_.pauses.size(); ++i) {
    const auto& [from, to, priority, span] = log_.pauses[i];
    LinkPauses& link = links
                           .try_emplace({from, to, priority},
                                        LinkPauses{.from = from, .to = to, .priority = priority, .first = span.begin})
                           .first->second;
    const Duration length = span.end - span.begin;
    ++link.pauses;
    link.frames += span.frames;
    link.xons += span.how == PauseEnd::kXon ? 1 : 0;
    link.lapsed += span.how == PauseEnd::kLapsed ? 1 : 0;
    link.total += length;
    link.longest = std::max(link.longest, length);
    link.is_open = link.is_open || span.how == PauseEnd::kOpen;
    out_.paused = sum(out_.paused, length);
    if (out_.longest == kNone || length > longest) {
      longest = length;
      out_.longest = i;
    }
  }
  for (const auto& [key, link] : links) out_.links.push_back(link);
  std::ranges::stable_sort(out_.links, std::greater{}, &LinkPauses::total);
  for (const LinkPauses& link : out_.links) {
    const Duration threshold = threshold_of(link.from);
    out_.least_threshold = &link == &out_.links.front() ? threshold : std::min(out_.least_threshold, threshold);
    out_.most_threshold = std::max(out_.most_threshold, threshold);
  }
  out_.is_too_short = !out_.links.empty() && log_.end - log_.begin < out_.least_threshold;
}

void Judge::judge_priority(uint8_t priority) {
  std::vector<uint32_t> selected;
  std::map<std::pair<uint32_t, uint32_t>, Runs> by_link;
  for (uint32_t i = 0; i < log_.pauses.size(); ++i) {
    const Pause& pause = log_.pauses[i];
    if (pause.priority != priority && pause.priority != kAllPriorities) continue;
    selected.push_back(i);
    by_link[{pause.from, pause.to}].add(i, pause);
  }
  std::vector<Run> lasting;
  PauseMarks marks{.lasts = std::vector<bool>(log_.pauses.size(), false),
                   .is_root = std::vector<bool>(log_.pauses.size(), false)};
  for (const auto& [link, runs] : by_link) {
    for (const Run& run : runs.all()) {
      if (run.length() < threshold_of(link.first)) continue;
      if (!run.is_uninterrupted() && !run.is_intermittent()) continue;
      lasting.push_back(run);
      if (!run.is_uninterrupted()) continue;
      for (const uint32_t index : run.pauses) marks.lasts[index] = true;
    }
  }
  std::vector<Run> roots;
  std::ranges::copy_if(lasting, std::back_inserter(roots), [&](const Run& run) { return is_root(run, lasting); });
  for (const Run& run : roots) {
    for (const uint32_t index : run.pauses) marks.is_root[index] = true;
  }
  Attribution found = attribute(log_, priority, selected, marks);
  out_.is_sampled = out_.is_sampled || found.is_sampled;
  for (const Share& share : found.shares) explained_[share.root] = sum(explained_[share.root], share.time);
  const std::set<uint32_t> locked = keep_cycles(found.cycles);
  for (const Run& run : roots) {
    if (!locked.contains(run.from)) add_storm(priority, run, found);
  }
}

// Whether no other run on one port of its node lasts along with it.
bool Judge::is_root(const Run& run, const std::vector<Run>& lasting) const {
  const Pause& pause = log_.pauses[run.pauses.front()];
  std::map<uint32_t, Duration> together;  // by port of the node
  for (const Run& other : lasting) {
    if (!other.is_uninterrupted() && is_denser(run, other)) continue;  // it goes on in between, this one does not
    if (!may_cause(log_, log_.pauses[other.pauses.front()], pause, Turns::kUpDown)) continue;
    const Duration overlap = std::min(run.end, other.end) - std::max(run.begin, other.begin);
    if (overlap > Duration{}) together[other.to] += overlap;
  }
  Duration most;
  for (const auto& [port, overlap] : together) most = std::max(most, overlap);
  const Duration free = run.length() - most;
  return free >= threshold_of(run.from) && free > run.length() / 10 * kFreeTenths;
}

// One storm for a node, whatever its ports and priorities.
void Judge::add_storm(uint8_t priority, const Run& run, const Attribution& found) {
  const uint32_t root = log_.node_of(run.from);
  auto known = std::ranges::find(out_.storms, root, &Storm::root);
  if (known == out_.storms.end()) known = out_.storms.insert(known, {.root = root, .begin = Instant::never()});
  Storm& storm = *known;
  if (run.begin < storm.begin) {
    storm.begin = run.begin;
    storm.from = run.from;
    storm.to = run.to;
    storm.paused_percent = percent(run.paused, run.length());
  }
  if (run.end >= storm.end) storm.how = run.how;
  storm.end = std::max(storm.end, run.end);
  storm.frames += run.frames;
  if ((storm.priorities >> priority & 1) != 0) return;  // another run, or port, of the same
  storm.priorities |= static_cast<uint16_t>(1 << priority);
  for (const Share& share : found.shares) {
    if (share.root != root) continue;
    storm.explained = sum(storm.explained, share.time);
    storm.spread.push_back(share);
  }
}

// Keeps those that lasted, and says which ports are caught in one that nothing feeds.
std::set<uint32_t> Judge::keep_cycles(const std::vector<Cycle>& cycles) {
  std::set<uint32_t> locked;
  for (const Cycle& cycle : cycles) {
    if (cycle.time < threshold_of(cycle.ports.front())) continue;
    const bool is_fed = cycle.fed_by != kNone;
    (is_fed ? out_.fed_cycles : out_.deadlocks).push_back(cycle);
    if (!is_fed) locked.insert(cycle.members.begin(), cycle.members.end());
  }
  return locked;
}

// One entry for a link whatever the priorities, in the order in which they were reached.
void Judge::finish(Storm& storm) {
  storm.doubt = doubt_about(log_, storm.root, storm.from);
  std::map<uint32_t, Share> by_link;
  for (const Share& share : storm.spread) {
    const auto [it, is_new] = by_link.try_emplace(share.from, share);
    if (is_new) continue;
    it->second.time = sum(it->second.time, share.time);
    it->second.first = std::min(it->second.first, share.first);
    it->second.hops = std::min(it->second.hops, share.hops);
  }
  for (auto& [from, share] : by_link) share.first = std::max(share.first, storm.begin);  // not of a pause before it
  storm.spread.clear();
  std::set<std::pair<std::string, uint32_t>> victims;
  for (const auto& [from, share] : by_link) {
    if (share.time < (storm.end - storm.begin) / kVictimParts) continue;
    storm.spread.push_back(share);
    const uint32_t node = log_.node_of(share.to);
    if (node != storm.root) victims.emplace(log_.nodes[node].name, node);
  }
  std::ranges::stable_sort(storm.spread, {}, [](const Share& s) { return std::tuple{s.first, s.hops, s.from}; });
  for (const auto& [name, node] : victims) storm.victims.push_back(node);
}

}  // namespace

Duration StormRule::threshold(Duration capture, Rate link) const {
  if (storm_after) return *storm_after;
  const Duration timers = link.is_zero() ? kThresholdWithoutRate : link.time_of_bytes(kTimers * kTimerBytes);
  return std::min(std::max(capture / kCaptureShare, timers), kLongestThreshold);
}

std::vector<uint8_t> priorities_of(const PauseLog& log) {
  std::set<uint8_t> found;
  for (const Pause& pause : log.pauses) found.insert(pause.priority);
  if (found.size() > 1) found.erase(kAllPriorities);
  return {found.begin(), found.end()};
}

Analysis analyse(const PauseLog& log, const StormRule& rule) {
  return Judge{log, rule}.judge();
}

}  // namespace softspine::tools::storm
