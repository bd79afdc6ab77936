// SPDX-License-Identifier: Apache-2.0
// Text of many short lines, put together from pieces. The caller gives the length of the longest possible line, and
// room for it is made once. Pieces then need no check for room, which would take most of their time.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace softspine::control {

// A piece that stands in many lines. It has a fixed place, which is copied whole.
class LineKey {
 public:
  static constexpr size_t kPlace = 64;

  explicit LineKey(std::string_view text) : size_(text.size()) {
    if (text.size() > kPlace) throw std::length_error("a counter's name is too long: " + std::string{text});
    std::ranges::copy(text, place_.begin());
  }
  std::string_view text() const { return {place_.data(), size_}; }
  const std::array<char, kPlace>& place() const { return place_; }

 private:
  std::array<char, kPlace> place_{};
  size_t size_;
};

class LineText {
 public:
  static constexpr size_t kMostDigits = 20;  // of 64 bits

  explicit LineText(size_t longest = 0) : text_(longest + LineKey::kPlace) {}

  void add(std::string_view piece) {
    std::memcpy(text_.data() + size_, piece.data(), piece.size());
    size_ += piece.size();
  }
  void add(const LineKey& key) {
    std::memcpy(text_.data() + size_, key.place().data(), LineKey::kPlace);
    size_ += key.text().size();
  }
  void add(uint64_t number) {
    char* const at = text_.data() + size_;
    size_ = static_cast<size_t>(std::to_chars(at, at + kMostDigits, number).ptr - text_.data());
  }
  bool is_empty() const { return size_ == 0; }
  // Moves the line behind `out`.
  void flush(std::string& out) {
    out.append(text_.data(), size_);
    size_ = 0;
  }

 private:
  std::vector<char> text_;
  size_t size_ = 0;
};

}  // namespace softspine::control
