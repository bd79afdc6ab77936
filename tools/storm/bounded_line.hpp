// SPDX-License-Identifier: Apache-2.0
// A line of a text file as std::getline has it, but never more than `most` bytes and one of it: /dev/zero has one line
// without an end.
#pragma once

#include <istream>
#include <string>

namespace softspine::tools::storm {

inline bool bounded_line(std::istream& in, std::string& line, size_t most) {
  line.clear();
  for (int c = in.get(); c != std::istream::traits_type::eof(); c = in.get()) {
    if (c == '\n') return true;
    line += static_cast<char>(c);
    if (line.size() > most) return true;
  }
  return !line.empty();
}

}  // namespace softspine::tools::storm
