// SPDX-License-Identifier: Apache-2.0
// The words of a GOAL file, one after the other, through a small buffer.
//
//   word      [A-Za-z_][A-Za-z0-9_]*
//   number    [-]digits, with a `b` behind it or without
//   sign      { } : and any other character
//   comments  /* … */, // … and # … to the end of the line; as spaces, they separate
//
// Maximum: a word has 255 characters, a number 20.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace softspine::control {

struct GoalToken {
  enum class Kind : uint8_t { kEnd, kWord, kNumber, kSign };
  Kind kind = Kind::kEnd;
  std::string_view text;  // until the next one is asked for
  uint64_t line = 1;
  int column = 1;
  uint64_t number = 0;  // kNumber: its amount
  bool is_negative = false;
  bool has_bytes = false;  // a `b` behind it
  bool is_bad = false;     // too long; of a comment: it does not end

  bool is(std::string_view other) const { return kind != Kind::kEnd && text == other; }
};

class GoalScanner {
 public:
  explicit GoalScanner(std::string_view text) : position_(text.data()), end_(text.data() + text.size()) {}
  // `file`: open for reading, and the caller's.
  explicit GoalScanner(int file) : file_(file), buffer_(size_t{256} * 1'024) {}

  GoalToken next();
  // Behind the line that the last token stands in.
  void skip_line(const GoalToken& last);
  uint64_t bytes() const { return bytes_; }  // read so far
  // Why the file cannot be read further; empty: it can, or has ended.
  const std::string& failure() const { return failure_; }

 private:
  static constexpr int kNothing = -1;

  int peek() { return position_ != end_ || refill() ? static_cast<unsigned char>(*position_) : kNothing; }
  void step() {
    const char c = *position_++;
    ++column_;
    if (c != '\n') return;
    ++line_;
    column_ = 1;
  }
  bool refill();
  bool skip_spaces(GoalToken& out);
  void skip_rest_of_line();
  bool skip_block();
  void take_number(GoalToken& out);
  template <typename Fits>
  void take(GoalToken& out, Fits&& fits, size_t most);

  int file_ = kNothing;
  std::vector<char> buffer_;
  const char* position_ = nullptr;
  const char* end_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t line_ = 1;
  int column_ = 1;
  std::string text_;
  std::string failure_;
};

}  // namespace softspine::control
