// SPDX-License-Identifier: Apache-2.0
// Is it text at all? UTF-8, well-formed, without control characters but tab and line ends.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace softspine::control {

struct TextFlaw {
  int line = 0;
  int column = 0;
  std::string message;
};

// The first thing that cannot stand in a text, if there is one.
std::optional<TextFlaw> find_flaw(std::string_view text);

}  // namespace softspine::control
