// SPDX-License-Identifier: Apache-2.0
// The captures that `softspine storm` reads: one, which may be a pipe or still grow; or several, which are read twice:
// first to compare their clocks, then frame by frame on one time line. Memory: pauses are kept, frames are not.
// SIGINT and SIGTERM end the reading; what was read by then counts.
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/reading/progress.hpp"
#include "analysis/storm/pause_recorder.hpp"
#include "analysis/storm/storm_report.hpp"

namespace softspine::analysis {

struct StormInput {
  std::vector<std::string> captures;  // FILE, or PLACE=FILE (analysis/storm/merged_captures.hpp); - is standard input
  dataplane::Rate speed;              // of every link; zero: as in the captures
  bool follow = false;                // wait for more at the end of the file
  // Is shown what a growing capture has so far, now and then.
  std::function<void(const storm::PauseRecorder&, const std::vector<storm::CapturedInterface>&)> look = {};
  ProgressFunction progress = {};
  dataplane::Duration storm_after = dataplane::Duration::max();  // given by the user: shorter pauses are none
  std::optional<dataplane::Duration> clocks_within;              // given by the user: no comparison is made
};

// Captures on one time line.
struct ReadCapture {
  storm::CaptureFacts facts;
  storm::PauseRecorder recorded;
  dataplane::Duration clocks;  // how far they may be apart
};

// By time line: one, unless there are captures that cannot be compared with the first. The error is a sentence.
std::expected<std::vector<ReadCapture>, std::string> read_captures(const StormInput& input);

// "1 frame is missing", "2 frames are missing"
std::string count_text(uint64_t n, const char* one, const char* many);

}  // namespace softspine::analysis
