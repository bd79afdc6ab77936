// SPDX-License-Identifier: Apache-2.0
// The progress of a running fabric, on stderr: a live table on a terminal, else a line now and then.
// Nothing for runs shorter than its first interval.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "control/telemetry/snapshot.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tools/command/screen.hpp"

namespace softspine::tools {

class Progress {
 public:
  // Both must outlive the Progress; the fabric runs, or is about to.
  Progress(testbeds::RunningFabric& fabric, Screen& screen);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void watch(const std::stop_token& stop);
  void show(const control::FabricSnapshot& before, const control::FabricSnapshot& now);

  // Shared with requests under way, which may be answered after the Progress has been destroyed.
  struct Answers {
    std::mutex lock;
    std::condition_variable_any came;
    std::optional<control::FabricSnapshot> latest;
  };

  testbeds::RunningFabric& fabric_;
  Screen& screen_;
  bool terminal_;
  std::shared_ptr<Answers> answers_ = std::make_shared<Answers>();
  std::optional<control::FabricSnapshot> before_;
  std::jthread thread_;
};

}  // namespace softspine::tools
