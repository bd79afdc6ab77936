// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP end the run cleanly; a second one ends the process at once. SIGHUP stays ignored if we
// were started so (nohup). A pipe whose reader has gone (SIGPIPE) and a file that has reached its limit (SIGXFSZ) end
// nothing: the write fails, and the writer reports the error.
#pragma once

#include <array>
#include <csignal>

#include "testbeds/run/running_fabric.hpp"

namespace softspine::tools {

// Handles the signals while it lives, in whatever runs one after the other meanwhile. One at a time.
class CatchInterrupts {
 public:
  CatchInterrupts();
  ~CatchInterrupts();
  CatchInterrupts(const CatchInterrupts&) = delete;
  CatchInterrupts& operator=(const CatchInterrupts&) = delete;
  bool has_come() const;

 private:
  static constexpr std::array<int, 3> kStopping{SIGINT, SIGTERM, SIGHUP};
  static constexpr std::array<int, 2> kIgnored{SIGPIPE, SIGXFSZ};
  std::array<struct sigaction, kStopping.size()> stopping_before_{};
  std::array<struct sigaction, kIgnored.size()> ignored_before_{};
};

// A caught signal stops this fabric while it lives; one that came before stops it at once. One at a time.
class StopOnInterrupt {
 public:
  explicit StopOnInterrupt(testbeds::RunningFabric& fabric);
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
};

}  // namespace softspine::tools
