// SPDX-License-Identifier: Apache-2.0
// How a text names several nodes by their names: a pattern with a *, or two names that differ in one number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace softspine::control {

// Whether the text is like the pattern, in which * stands for any letters.
bool is_like(std::string_view text, std::string_view pattern);

// Patterns that some name matches and that differ from the given one only before its first *, where they have as many
// letters, or one more or less: s1-* for s2-*. Empty for a name without a *.
std::vector<std::string> patterns_near(std::string_view pattern, const std::vector<std::string_view>& names);

// Digits alone, without a leading zero.
std::optional<uint32_t> number_in(std::string_view digits);

// s1-h3 and s1-h8: "s1-h", "", 3 and 8.
struct NameRange {
  std::string_view before;
  std::string_view after;
  uint32_t first = 0;
  uint32_t last = 0;
};

// Empty: the two names do not differ in one number.
std::optional<NameRange> names_between(std::string_view a, std::string_view b);

}  // namespace softspine::control
