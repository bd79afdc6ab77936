// SPDX-License-Identifier: Apache-2.0
// stderr while a fabric runs: lines that stay, and a table below them that is drawn anew in its place.
// Any thread may print. Output that stderr does not take is lost.
#pragma once

#include <mutex>
#include <string>

namespace softspine::tools {

class Screen {
 public:
  // `line` comes without its newline.
  void print_line(const std::string& line);
  // Draws the table in the place of the previous one.
  void redraw(const std::string& table);

 private:
  void write(const std::string& text);

  std::mutex lock_;
  std::string table_;
};

}  // namespace softspine::tools
