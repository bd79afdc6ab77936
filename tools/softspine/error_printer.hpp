// SPDX-License-Identifier: Apache-2.0
// What goes wrong in a running fabric, on stderr, at once: one line for each error of its channel.
// Written by a thread of its own, so that a terminal or a pipe that takes nothing holds nobody up.
#pragma once

#include <thread>

#include "control/telemetry/error_channel.hpp"
#include "tools/softspine/screen.hpp"

namespace softspine::tools {

class ErrorPrinter {
 public:
  // Both outlive it. Its end prints what is left.
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
