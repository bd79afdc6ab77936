// SPDX-License-Identifier: Apache-2.0
// The result of an analysis: as text for people, as JSON for programs. The JSON has everything, times in picoseconds
// from the capture's own zero; the text has the first `rows` of each list.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/storm/event_story.hpp"
#include "analysis/storm/storm_analysis.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::analysis::storm {

inline constexpr size_t kMaxPausesInJson = 100'000;

enum class Verdict : uint8_t { kStorm, kDeadlock, kCongestion, kNoPauses, kUnknown };

// For several captures: the difference of one's clock from the first's.
struct ClockFact {
  std::string file;
  double skew_seconds = 0;  // this clock − the first's, when this capture begins
  double drift = 0;         // by how much this clock runs faster
  double drift_uncertainty = 0;
  dataplane::Duration uncertainty;
  std::string compared_with;  // empty: it is the first
  uint64_t packets = 0;       // that both saw
};

// The facts that a report contains beside the analysis.
struct CaptureFacts {
  std::string file;
  Tally tally;
  size_t ports = 0;
  std::optional<int64_t> began_unix_seconds;  // none: emulated time
  std::vector<ClockFact> clocks = {};         // if there are several captures
  std::optional<Story> story = {};            // with an event log
  std::vector<std::string> notes;             // what the reader should know: cut short, guessed, missed
};

Verdict verdict_of(const Analysis& analysis);
const char* word_of(Verdict verdict);

// The number of storms whose root is certain.
size_t known_roots(const Analysis& analysis);
// One line: "storm: h3 pauses tor1 …"
std::string headline(const PauseLog& log, const Analysis& analysis);
std::string text_report(const CaptureFacts& facts, const PauseLog& log, const Analysis& analysis, size_t rows);
control::Json json_report(const CaptureFacts& facts, const PauseLog& log, const Analysis& analysis);

// "12.5 us", "3 ms": four digits.
std::string time_text(dataplane::Duration duration);
// The same, of an instant: from the zero of the capture's time on.
std::string at_text(dataplane::Instant at);
// "priority 3", "priorities 3 and 4", "all priorities"
std::string priorities_text(uint16_t priorities);
// "tor1 → tor2 → tor3 → tor1": the nodes of a cycle, each of which pauses the next.
std::string cycle_text(const PauseLog& log, const Cycle& cycle);
// Each line indented, as a table is below its title.
std::string indented(const std::string& lines);
// The last line of a list of which `shown` of `all` rows are printed; empty if these are all.
std::string more_text(size_t all, size_t shown);
// `part` as a percentage of `whole`.
double percent(dataplane::Duration part, dataplane::Duration whole);

}  // namespace softspine::analysis::storm
