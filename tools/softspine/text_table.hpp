// SPDX-License-Identifier: Apache-2.0
// Columns for people: the first flush left, the others right, each as wide as its widest cell.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace softspine::tools {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) : lines_{std::move(head)} {}
  void add(std::vector<std::string> line) { lines_.push_back(std::move(line)); }

  std::string text() const {
    std::vector<size_t> widths;
    for (const auto& line : lines_) {
      widths.resize(std::max(widths.size(), line.size()));
      for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width_of(line[i]));
    }
    std::string out;
    for (const auto& line : lines_) {
      for (size_t i = 0; i < line.size(); ++i) {
        const std::string blank(widths[i] - width_of(line[i]), ' ');
        out += i == 0 ? "  " + line[i] + (line.size() == 1 ? "" : blank) : "  " + blank + line[i];
      }
      out += "\n";
    }
    return out;
  }

 private:
  // Every byte but UTF-8's continuations.
  static size_t width_of(std::string_view text) {
    return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
  }
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace softspine::tools
