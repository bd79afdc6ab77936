// SPDX-License-Identifier: Apache-2.0
// Lines and columns of a text, by offset: pugixml knows offsets alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <pugixml.hpp>
#include <string_view>
#include <vector>

namespace softspine::control {

class XmlPlaces {
 public:
  explicit XmlPlaces(std::string_view text) : size_(text.size()) {
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') begins_.push_back(i + 1);
    }
  }

  struct Found {
    int line;
    int column;
  };
  Found at(size_t offset) const {
    offset = std::min(offset, size_);
    const auto after = std::ranges::upper_bound(begins_, offset);
    return {static_cast<int>(after - begins_.begin()), static_cast<int>(offset - *(after - 1)) + 1};
  }

 private:
  size_t size_;
  std::vector<size_t> begins_{0};  // of lines
};

}  // namespace softspine::control
