// SPDX-License-Identifier: Apache-2.0
// What a run draws when it is over, each into a file of its own if asked for: faults, bus bandwidths, steps of ranks.
#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <string>
#include <vector>

#include "control/record/recorded_results.hpp"
#include "control/telemetry/snapshot.hpp"
#include "tools/softspine/views/file_clashes.hpp"

namespace softspine::tools {

struct RunPictures {
  std::string timeline;
  std::string busbw;
  std::string steps;  // or as JSON

  std::vector<FileUse> outputs() const;
  // False: not all of them, and the user has been told. `stop`: a reader that takes nothing is given up.
  bool write(const control::FabricSnapshot& snapshot, const std::string& testbed, const std::atomic<bool>& stop) const;
  // A line for each.
  std::string list() const;
};

// For a recording: those that have something to show.
std::vector<control::RecordedPicture> recorded_pictures(const control::FabricSnapshot& snapshot,
                                                        const std::string& testbed);

void add_picture_options(CLI::App& command, RunPictures& out);

}  // namespace softspine::tools
