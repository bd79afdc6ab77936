// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/error_printer.hpp"

#include <fmt/format.h>

namespace softspine::tools {

ErrorPrinter::ErrorPrinter(control::ErrorChannel& errors, Screen& screen)
    : errors_(errors), screen_(screen), thread_([this](const std::stop_token& stop) { print(stop); }) {}

ErrorPrinter::~ErrorPrinter() {
  thread_.request_stop();
  thread_.join();
}

void ErrorPrinter::print(const std::stop_token& stop) {
  for (size_t printed = 0;;) {
    const auto errors = errors_.await_more(printed, stop);
    if (errors.empty()) return;
    for (const control::RunError& each : errors) {
      screen_.print_line(
          fmt::format("softspine: {}: {} (at {:.6f} ms)", each.who, each.what, each.first.seconds() * 1e3));
    }
    printed += errors.size();
  }
}

}  // namespace softspine::tools
