// SPDX-License-Identifier: Apache-2.0
// Prints errors of a running fabric to stderr at once: one line for each error of its channel. A thread of its own
// writes, so that a terminal or a pipe that takes nothing blocks nobody.
#pragma once

#include <thread>

#include "control/telemetry/error_channel.hpp"
#include "tools/command/screen.hpp"

namespace softspine::tools {

class ErrorPrinter {
 public:
  // Both must outlive the ErrorPrinter. The destructor prints what is left.
  ErrorPrinter(control::ErrorChannel& errors, Screen& screen);
  ~ErrorPrinter();
  ErrorPrinter(const ErrorPrinter&) = delete;
  ErrorPrinter& operator=(const ErrorPrinter&) = delete;

 private:
  void print(const std::stop_token& stop);

  control::ErrorChannel& errors_;
  Screen& screen_;
  std::jthread thread_;
};

}  // namespace softspine::tools
