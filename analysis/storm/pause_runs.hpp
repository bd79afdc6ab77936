// SPDX-License-Identifier: Apache-2.0
// Pauses of one link and priority with no XON between them, as one run. PAUSE (802.3x) stops every priority, so it
// belongs to the runs of each; where two pauses overlap, their time counts once, and a run ends when the last of them
// does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/storm/pause_log.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::analysis::storm {

struct Run {
  static constexpr int64_t kPausedTenths = 8;
  static constexpr size_t kLapsingPauses = 5;

  std::vector<uint32_t> pauses;  // of the log: its entries
  uint64_t count = 0;            // of pauses: an entry may be several
  uint32_t from = 0;
  uint32_t to = 0;
  uint8_t priority = 0;  // kAllPriorities: PAUSE alone
  bool has_pfc = false;
  dataplane::Instant begin;
  dataplane::Instant end;
  dataplane::Instant pause_end;  // of its last PAUSE
  PauseEnd how = PauseEnd::kOpen;
  bool do_xons_follow = false;  // before the next pause that is no part of such an entry
  dataplane::Duration paused;
  dataplane::Duration by_pause;  // of it: in which PAUSE was on

  dataplane::Duration length() const { return end - begin; }
  bool is_uninterrupted() const { return paused >= length() / 10 * kPausedTenths; }
  bool is_intermittent() const { return count >= kLapsingPauses; }  // see Runs
  // PAUSE makes up half of it: it stops all priorities, and what stopped any of them may have caused it.
  bool stops_all() const { return by_pause * 2 >= paused; }
  // The run as one pause, for the graph of causes.
  Pause as_pause() const {
    return {.from = from, .to = to, .priority = stops_all() ? kAllPriorities : priority, .span = {}};
  }
};

// How much of the time, compared without dividing.
inline bool is_denser(const Run& a, const Run& b) {
  return dataplane::Uint128(static_cast<uint64_t>(a.paused.count_ps())) * static_cast<uint64_t>(b.length().count_ps()) >
         dataplane::Uint128(static_cast<uint64_t>(b.paused.count_ps())) * static_cast<uint64_t>(a.length().count_ps());
}

// Runs of one link and priority, made pause by pause in the order of their begin.
class Runs {
 public:
  static constexpr int64_t kLapsingParts = 20;  // of an intermittent pause, one is on

  void add(uint32_t index, const Pause& pause, uint8_t priority) {
    const dataplane::Instant begin = pause.span.begin;
    const dataplane::Instant end = pause.span.end;
    if (pause.span.pauses > 1 && pause.span.how == PauseEnd::kXon) return end_by_xons(begin);
    if (!continues(pause)) {
      runs_.push_back({.pauses = {},
                       .from = pause.from,
                       .to = pause.to,
                       .priority = priority,
                       .begin = begin,
                       .end = begin,
                       .pause_end = begin});
    }
    Run& run = runs_.back();
    run.pauses.push_back(index);
    run.count += pause.span.pauses;
    run.paused += pause.span.paused_since(run.end);
    if (pause.priority == kAllPriorities) {
      run.by_pause += more(begin, end, run.pause_end);
      run.pause_end = std::max(run.pause_end, end);
    } else {
      run.has_pfc = true;
    }
    if (end >= run.end) run.how = pause.span.how;
    run.end = std::max(run.end, end);
  }
  const std::vector<Run>& all() const { return runs_; }

 private:
  // The time that a span adds to a time line that is known up to `known`.
  static dataplane::Duration more(dataplane::Instant begin, dataplane::Instant end, dataplane::Instant known) {
    const dataplane::Instant from = std::max(begin, known);
    return end > from ? end - from : dataplane::Duration{};
  }
  // Short pauses that XONs ended are no run, and none goes on across them.
  void end_by_xons(dataplane::Instant begin) {
    if (!runs_.empty() && begin >= runs_.back().end) runs_.back().do_xons_follow = true;
  }
  bool continues(const Pause& pause) const {
    if (runs_.empty()) return false;
    const Run& last = runs_.back();
    if (pause.span.begin < last.end) return true;  // the other kind of pause, or one that was captured twice
    if (last.do_xons_follow) return false;
    if (last.how == PauseEnd::kOpen) return true;  // its capture ended, and another one goes on
    return last.how == PauseEnd::kLapsed &&
           last.paused >= (pause.span.begin - last.begin) / kLapsingParts;  // whole periods
  }
  std::vector<Run> runs_;
};

}  // namespace softspine::analysis::storm
