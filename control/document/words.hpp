// SPDX-License-Identifier: Apache-2.0
// Words in messages: quoting what a file said, and guessing what it meant. The letters of words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace softspine::control {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
// ASCII's letters and digits, whatever the locale.
constexpr bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
}

// 'text', cut at 60 bytes, with everything that could upset a terminal escaped.
std::string shown(std::string_view text);

// Edit distance with swaps of neighbours, given up (as limit + 1) when above the limit.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit);

// Guesses: ": did you mean 'tors'?", or nothing. Ignores case. Each comparison of letters is paid from a
// budget for one file, so that ten thousand wrong names among ten thousand right ones cost no more than a hundred.
class Guesser {
 public:
  std::string guess(std::string_view word, const std::vector<std::string_view>& known);

 private:
  int64_t budget_ = 64'000'000;  // comparisons: a quarter of a second
};

}  // namespace softspine::control
