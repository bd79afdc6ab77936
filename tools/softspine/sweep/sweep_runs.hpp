// SPDX-License-Identifier: Apache-2.0
// Runs the combinations of a sweep, some at a time, each as a process of its own: what ends one ends no other. Those
// that a cache has are not run.
#pragma once

#include <atomic>
#include <expected>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "tools/softspine/sweep/axes.hpp"
#include "tools/softspine/sweep/run_cache.hpp"
#include "tools/softspine/sweep/sweep_table.hpp"

namespace softspine::tools {

struct SweepPlan {
  std::string file;               // the testbed
  std::filesystem::path program;  // softspine
  std::filesystem::path folder;   // for the runs' files while they run: exists
  uint32_t at_once = 1;
  const Combinations* combinations = nullptr;
  const std::vector<WantedValue>* wanted = nullptr;
  RunCache* cache = nullptr;  // null: every combination is run, and nothing kept
};

// Of a combination that is to be run: the testbed, or why there is none. From any thread.
using LoadCombination =
    std::function<std::expected<control::Testbed, std::string>(const std::vector<control::Setting>& settings)>;

struct SweepProgress {
  std::atomic<uint64_t> done{0};  // with those of the cache
  std::atomic<uint64_t> cached{0};
  std::atomic<uint64_t> failed{0};  // or did not go as expected
};

// `look`: called now and then in the caller's thread, and at the end; true: kill what runs, and start nothing more.
std::vector<SweepRow> sweep_runs(const SweepPlan& plan, const LoadCombination& load, SweepProgress& progress,
                                 const std::function<bool()>& look);

}  // namespace softspine::tools
