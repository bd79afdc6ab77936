// SPDX-License-Identifier: Apache-2.0
#include "control/topology/name_patterns.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "control/document/words.hpp"

namespace softspine::control {

std::optional<uint32_t> number_in(std::string_view digits) {
  uint32_t out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  const bool plain = !digits.empty() && (digits.size() == 1 || digits[0] != '0');
  return plain && error == std::errc{} && end == digits.data() + digits.size() ? std::optional(out) : std::nullopt;
}

std::optional<NameRange> names_between(std::string_view a, std::string_view b) {
  size_t from = static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  while (from > 0 && is_digit(a[from - 1])) --from;
  const auto end_of = [from](std::string_view text) {
    return static_cast<size_t>(std::find_if_not(text.begin() + static_cast<ptrdiff_t>(from), text.end(), is_digit) -
                               text.begin());
  };
  const auto first = number_in(a.substr(from, end_of(a) - from));
  const auto last = number_in(b.substr(from, end_of(b) - from));
  if (!first || !last || a.substr(end_of(a)) != b.substr(end_of(b))) return std::nullopt;
  return NameRange{a.substr(0, from), a.substr(end_of(a)), *first, *last};
}

std::vector<std::string> patterns_near(std::string_view pattern, const std::vector<std::string_view>& names) {
  const size_t star = pattern.find('*');
  std::set<std::string> found;
  if (star == std::string_view::npos) return {};
  for (const std::string_view name : names) {
    for (size_t length = std::max<size_t>(star, 1) - 1; length <= star + 1 && length <= name.size(); ++length) {
      std::string near{name.substr(0, length)};
      near += pattern.substr(star);
      if (!found.contains(near) && is_like(name, near)) found.insert(std::move(near));
    }
  }
  return {found.begin(), found.end()};
}

bool is_like(std::string_view text, std::string_view pattern) {
  size_t t = 0;
  size_t p = 0;
  size_t star = std::string_view::npos;  // the last * so far
  size_t held = 0;                       // where what it stands for ends, in the text
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      held = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++held;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace softspine::control
