// SPDX-License-Identifier: Apache-2.0
// Columns for people: as wide as their widest cell, two spaces apart, a rule under the header, names to the left and
// numbers to the right, as SONiC's CLI prints them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace softspine::control {

class TextTable {
 public:
  // A header that begins with '<' makes its column one of words; the '<' is not printed.
  explicit TextTable(const std::vector<std::string>& headers);

  // `cells` has as many entries as there are headers.
  void add(std::vector<std::string> cells);
  size_t rows() const { return rows_.size(); }

  // Lines, each with its newline, none wider than `width` (0: no limit).
  std::string text(size_t width = 0) const;

 private:
  std::string line_of(const std::vector<std::string>& cells, size_t width) const;

  std::vector<std::string> headers_;
  std::vector<bool> words_;
  std::vector<size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

// 1,234,567
std::string grouped(uint64_t number);

}  // namespace softspine::control
