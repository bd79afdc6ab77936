// SPDX-License-Identifier: Apache-2.0
#include "control/traces/goal_scanner.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace softspine::control {
namespace {

constexpr size_t kMaxGoalWord = 255;
constexpr size_t kMaxGoalDigits = 20;

bool is_goal_digit(int c) {
  return c >= '0' && c <= '9';
}
bool begins_goal_word(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_of_goal_word(int c) {
  return begins_goal_word(c) || is_goal_digit(c);
}
bool is_goal_space(int c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

}  // namespace

bool GoalScanner::refill() {
  if (file_ == kNothing || !failure_.empty()) return false;
  ssize_t n = -1;
  do {
    n = read(file_, buffer_.data(), buffer_.size());
  } while (n < 0 && errno == EINTR);
  if (n < 0) failure_ = std::string("cannot be read: ") + std::strerror(errno);
  if (n <= 0) return false;
  bytes_ += static_cast<uint64_t>(n);
  position_ = buffer_.data();
  end_ = position_ + n;
  return true;
}

void GoalScanner::skip_rest_of_line() {
  while (peek() != kNothing && peek() != '\n') step();
}

// False: it does not end.
bool GoalScanner::skip_block() {
  for (int last = 0; peek() != kNothing;) {
    const int c = peek();
    step();
    if (last == '*' && c == '/') return true;
    last = c;
  }
  return false;
}

// Up to the next token. False: a slash stands there that begins no comment, or a comment that does not end.
bool GoalScanner::skip_spaces(GoalToken& out) {
  for (;;) {
    out.line = line_;
    out.column = column_;
    const int c = peek();
    if (is_goal_space(c)) {
      step();
    } else if (c == '#') {
      skip_rest_of_line();
    } else if (c == '/') {
      step();
      const int second = peek();
      if (second == '/') {
        skip_rest_of_line();
      } else if (second == '*') {
        step();
        if (skip_block()) continue;
        out.is_bad = true;
        return false;
      } else {
        return false;
      }
    } else {
      return true;
    }
  }
}

// A run at a time: characters that fit hold no end of a line.
template <typename Fits>
void GoalScanner::take(GoalToken& out, Fits&& fits, size_t most) {
  while (fits(peek())) {
    const char* run = position_;
    while (run != end_ && fits(static_cast<unsigned char>(*run))) ++run;
    const auto length = static_cast<size_t>(run - position_);
    const size_t room = most - std::min(most, text_.size());
    text_.append(position_, std::min(length, room));
    out.is_bad |= length > room;
    column_ += static_cast<int>(length);
    position_ = run;
  }
}

void GoalScanner::take_number(GoalToken& out) {
  out.kind = GoalToken::Kind::kNumber;
  const size_t sign = text_.size();
  take(out, is_goal_digit, kMaxGoalDigits + sign);
  const char* const digits = text_.data() + sign;
  const auto [end, error] = std::from_chars(digits, text_.data() + text_.size(), out.number);
  out.is_bad |= error != std::errc{} || end != text_.data() + text_.size();
  if (peek() == 'b') {
    out.has_bytes = true;
    text_.push_back('b');
    step();
  }
  if (begins_goal_word(peek())) out.is_bad = true;
}

GoalToken GoalScanner::next() {
  GoalToken out;
  text_.clear();
  const bool is_there = skip_spaces(out);
  const int c = is_there ? peek() : '/';
  if (!is_there) {
    out.kind = GoalToken::Kind::kSign;
    text_ = out.is_bad ? "/*" : "/";
  } else if (begins_goal_word(c)) {
    out.kind = GoalToken::Kind::kWord;
    take(out, is_of_goal_word, kMaxGoalWord);
  } else if (is_goal_digit(c)) {
    take_number(out);
  } else if (c != kNothing) {
    out.kind = GoalToken::Kind::kSign;
    text_.push_back(static_cast<char>(c));
    step();
    if (c == '-' && is_goal_digit(peek())) {
      out.is_negative = true;
      take_number(out);
    }
  }
  out.text = text_;
  return out;
}

void GoalScanner::skip_line(const GoalToken& last) {
  if (line_ == last.line) skip_rest_of_line();
}

}  // namespace softspine::control
