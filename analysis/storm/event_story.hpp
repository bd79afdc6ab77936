// SPDX-License-Identifier: Apache-2.0
// Our event log (docs/counters.md) beside a capture: both as one story, and the events that may have caused a storm.
//
// A log fits a capture if its ports are the capture's, if the capture counts emulated time too, and if nine in ten of
// the XOFFs that the log has at captured ports are there: a pause from that port at one of the priorities, which goes
// on kSent later. A frame under way delays a PFC frame by far less. A log that does not fit is reported as another
// run's, and not used.
//
// Possible causes of a storm: a fault, a link or route that changed, the watchdog, from kBefore before its begin on.
// Those that name the storm's node or its neighbour come first. Bounds: kMaxEvents are kept of a log, lines have at
// most TextLines::kMaxLine bytes.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "analysis/storm/storm_analysis.hpp"

namespace softspine::analysis::storm {

struct LoggedEvent {
  dataplane::Instant at;
  std::string kind;   // "fault", "storm_detected", …
  std::string place;  // port, switch or circle; of a fault, what happened
  uint16_t priorities = 0;
  std::string detail = {};  // of drops: how many, why
};

struct EventLog {
  static constexpr size_t kMaxEvents = 2'000'000;

  std::string file;
  std::string testbed;
  std::vector<LoggedEvent> events;  // in their order
  uint64_t left_out = 0;            // beyond kMaxEvents
  uint64_t lost = 0;                // by the log itself
  bool is_whole = false;            // its last line is there
};

// The error is a sentence with file and line.
std::expected<EventLog, std::string> read_event_log(const std::string& path);

// Why the log is not of the captured run, as the end of a sentence; empty: it fits. `testbed`: the name that the user's
// testbed has, or empty. `is_emulated`: the capture counts from 0.
std::string misfit(const EventLog& events, const PauseLog& log, const std::string& testbed, bool is_emulated);

struct StoryLine {
  dataplane::Instant at;
  bool is_captured = false;  // else it is the log's
  std::string what;
  std::optional<uint32_t> may_have_caused;  // number of the storm
  bool names_its_node = false;
};

struct Story {
  std::string file;
  std::string misfit;            // empty: it fits
  std::vector<StoryLine> lines;  // in the order of time
  std::vector<std::string> notes;
};

Story tell(const EventLog& events, const PauseLog& log, const Analysis& analysis, const std::string& testbed,
           bool is_emulated);

}  // namespace softspine::analysis::storm
