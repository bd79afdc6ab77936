// SPDX-License-Identifier: Apache-2.0
// Text from outside, as terminals and pictures may have it: no control characters, and an end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace softspine::control {

// The first `most` bytes, or a few less: not within a character of UTF-8.
inline std::string printable(std::string_view text, size_t most) {
  const auto is_within = [&text](size_t at) { return at < text.size() && (text[at] & 0xC0) == 0x80; };
  size_t end = std::min(text.size(), most);
  for (int back = 0; back < 3 && end > 0 && is_within(end); ++back) --end;
  std::string out{text.substr(0, end)};
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  return out;
}

}  // namespace softspine::control
