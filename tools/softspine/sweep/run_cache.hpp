// SPDX-License-Identifier: Apache-2.0
// Results of runs that were made before. A run on the virtual clock is a function of its testbed, the settings, the
// files that the testbed names and the program; an entry is found by the first, and holds what the others were.
//
// An entry is a file, written whole or not at all: any number of sweeps may share a folder, on other machines, too.
// One that cannot be read is none. Contents are compared by SHA-1 (Boost.UUID's version 5).
#pragma once

#include <expected>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/document/setting.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::tools {

struct FinishedRun {
  int exit_status = 0;
  control::Json report;  // null: none was written
  std::string complaint;
};

class RunCache {
 public:
  // `program`: the file that makes the runs, told from others by its size and time. `testbed`: the file.
  static std::expected<RunCache, std::string> open(const std::filesystem::path& folder,
                                                   const std::filesystem::path& program,
                                                   const std::filesystem::path& testbed);
  // $XDG_CACHE_HOME/softspine/sweep, or ~/.cache/softspine/sweep; empty: neither is known.
  static std::filesystem::path usual_folder();

  // Both from any thread.
  std::optional<FinishedRun> find(std::span<const control::Setting> settings);
  // `inputs`: the files that the testbed names. The error is the kernel's: the run is not lost by it.
  std::expected<void, std::string> put(std::span<const control::Setting> settings,
                                       const std::vector<std::string>& inputs, const FinishedRun& run);

 private:
  struct Contents {  // of files, read once
    std::mutex lock;
    std::map<std::string, std::string> ids;
  };
  RunCache(std::filesystem::path folder, std::string begin)
      : folder_(std::move(folder)), begin_(std::move(begin)), contents_(std::make_unique<Contents>()) {}
  std::filesystem::path entry_of(std::span<const control::Setting> settings) const;
  std::string id_of_file(const std::string& path);

  std::filesystem::path folder_;
  std::string begin_;  // of what an entry's name is made of
  std::unique_ptr<Contents> contents_;
};

}  // namespace softspine::tools
