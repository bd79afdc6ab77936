// SPDX-License-Identifier: Apache-2.0
// What `softspine run` says at its end of the files that it has written.
#pragma once

#include <expected>
#include <string>

#include "control/capture/capture.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tools/softspine/run_arguments.hpp"
#include "tools/softspine/views/file_clashes.hpp"

namespace softspine::tools {

// Where they are, as the command line or else the testbed says; empty: not asked for.
struct TelemetryFiles {
  std::string counters;
  std::string events;
};

// Nothing, if none is asked for. Called before the first window. The error is a sentence.
std::expected<void, std::string> open_trace(const testbeds::RunningFabric& fabric, const RunArguments& arguments);

// The page is made of a recording: of one that goes, if none is asked for. `path` stays empty with an error.
std::expected<void, std::string> make_file_for_page(std::string& path);

// A line for each file.
std::string files_text(const RunArguments& arguments, const TelemetryFiles& telemetry,
                       const std::expected<control::CaptureTotals, std::string>& capture);

// True for a file that is opened before the run, if it is a named pipe. (The others are written at its end:
// whole_file.hpp.)
bool waits_for_reader(const RunArguments& arguments, const FileUse& use);

}  // namespace softspine::tools
