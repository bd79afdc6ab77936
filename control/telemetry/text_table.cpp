// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/text_table.hpp"

#include <algorithm>

#include "dataplane/units/check.hpp"

namespace softspine::control {

TextTable::TextTable(const std::vector<std::string>& headers) {
  for (const std::string& header : headers) {
    words_.push_back(header.starts_with('<'));
    headers_.push_back(header.substr(words_.back() ? 1 : 0));
    widths_.push_back(headers_.back().size());
  }
}

void TextTable::add(std::vector<std::string> cells) {
  SOFTSPINE_CHECK(cells.size() == headers_.size(), cells.size(), headers_.size());
  for (size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], cells[i].size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::line_of(const std::vector<std::string>& cells, size_t width) const {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string space(widths_[i] - cells[i].size(), ' ');
    if (i > 0) line += "  ";
    line += words_[i] ? cells[i] + space : space + cells[i];
  }
  if (width > 0 && line.size() > width) line.resize(width);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string TextTable::text(size_t width) const {
  std::vector<std::string> rule;
  for (const size_t each : widths_) rule.emplace_back(each, '-');
  std::string out = line_of(headers_, width) + line_of(rule, width);
  for (const auto& row : rows_) out += line_of(row, width);
  return out;
}

std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

}  // namespace softspine::control
