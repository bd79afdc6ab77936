// SPDX-License-Identifier: Apache-2.0
#include "tools/command/screen.hpp"

#include <cstdio>

#include "control/telemetry/live_table.hpp"

namespace softspine::tools {

void Screen::print_line(const std::string& line) {
  const std::lock_guard guard{lock_};
  write(control::redrawn(table_, line + "\n" + table_));
}

void Screen::redraw(const std::string& table) {
  const std::lock_guard guard{lock_};
  write(control::redrawn(table_, table));
  table_ = table;
}

void Screen::write(const std::string& text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  std::fflush(stderr);
}

}  // namespace softspine::tools
