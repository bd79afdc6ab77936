// SPDX-License-Identifier: Apache-2.0
// stderr while a fabric runs: lines that stay, and a table below them that is drawn anew in its place.
// Any thread. What stderr does not take is lost.
#pragma once

#include <mutex>
#include <string>

namespace softspine::tools {

class Screen {
 public:
  // Its last line has no newline yet.
  void print_line(const std::string& line);
  // In the place of the last one.
  void redraw(const std::string& table);

 private:
  void write(const std::string& text);

  std::mutex lock_;
  std::string table_;
};

}  // namespace softspine::tools
