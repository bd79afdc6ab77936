// SPDX-License-Identifier: Apache-2.0
// The pauses of a capture, in bounded memory. Up to kMaxWhole each is kept as it is. Beyond, short pauses of one sender
// and class that follow each other in one stretch of time become one entry, with their number, their total and the
// longest of them (PauseSpan); stretches double in length until there are few enough entries.
//
//   XON-ended   well below any storm: a buffer that drains. Where one stands between two others, these are not one run
//   lapsed      as long as they pause a twentieth of the time together: else they are no run (pause_runs.hpp)
//
// A pause is short below `short_below`, which no storm is. Longer ones, and those that were open at the end, stay as
// they are. Where these alone are more than kMaxPauses, the rest is refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/storm/pause_frame.hpp"
#include "analysis/storm/pause_timer.hpp"

namespace softspine::analysis::storm {

// No pause that is shorter is a storm, by the rule of storm_analysis.hpp: three of the longest timers that an XOFF can
// set; 1 ms where the link's speed is unknown.
inline dataplane::Duration least_storm(dataplane::Rate link) {
  constexpr uint64_t kTimers = 3;
  constexpr uint64_t kTimerBytes = uint64_t{0xffff} * 64;
  return link.is_zero() ? dataplane::Duration::ms(1) : link.time_of_bytes(kTimers * kTimerBytes);
}

struct RecordedPause {
  uint32_t sender = 0;
  uint8_t priority = 0;  // or kAllPriorities
  PauseSpan span;
};

class PauseList {
 public:
  static constexpr size_t kMaxWhole = 50'000;
  static constexpr size_t kMaxPauses = 1'000'000;
  static constexpr int64_t kLapsingParts = 20;

  // To be called in the order of their begin, for each sender and class. False: there is no room.
  bool add(const RecordedPause& pause, dataplane::Duration short_below);
  // By begin, sender and class, from then on.
  void sort();
  const std::vector<RecordedPause>& all() const { return pauses_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  using Latest = std::vector<std::array<uint32_t, kPauseClasses>>;  // by sender and class: its last entry

  // Adds to `list`, or to the last entry of this sender and class there.
  void put(std::vector<RecordedPause>& list, Latest& latest, const RecordedPause& pause) const;
  bool belongs_to(const PauseSpan& last, const PauseSpan& next) const;
  void fold();

  std::vector<RecordedPause> pauses_;
  Latest latest_;
  dataplane::Duration stretch_;  // zero: all are kept as they are
  size_t limit_ = kMaxWhole;
};

}  // namespace softspine::analysis::storm
