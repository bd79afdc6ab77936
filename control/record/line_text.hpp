// SPDX-License-Identifier: Apache-2.0
// Text of many short lines, put together from pieces. The caller gives the length that a line has at most, and room for
// it is made once. Pieces then need no check for room, which would take most of their time.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace softspine::control {

// A piece that stands in many lines. The key has a fixed place, which is copied whole.
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

// One line, where there is room for it.
class LineText {
 public:
  static constexpr size_t kMaxDigits = 20;  // of 64 bits

  // Appends to `out` the line that write(line) puts together of at most `longest` characters.
  template <typename Write>
  static void append(std::string& out, size_t longest, Write&& write) {
    const size_t before = out.size();
    out.resize_and_overwrite(before + longest + LineKey::kPlace, [&](char* data, size_t) {
      LineText line{data + before};
      write(line);
      return static_cast<size_t>(line.at_ - data);
    });
  }

  void add(std::string_view piece) {
    std::memcpy(at_, piece.data(), piece.size());
    at_ += piece.size();
  }
  void add(const LineKey& key) {
    std::memcpy(at_, key.place().data(), LineKey::kPlace);
    at_ += key.text().size();
  }
  void add(uint64_t number) { at_ = std::to_chars(at_, at_ + kMaxDigits, number).ptr; }

 private:
  explicit LineText(char* at) : at_(at) {}
  char* at_;
};

}  // namespace softspine::control
