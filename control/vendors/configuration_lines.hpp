// SPDX-License-Identifier: Apache-2.0
// A switch's configuration as lines of words, each preceded by all lines that enclose it, in any vendor's syntax:
//
//   kPlain      nv set system forwarding hash-seed 10          words between blanks; # and ! begin a comment; quotes
//                                                              around a word are removed
//   kKeyValue   hash_config.sip = true                         the key, then the value
//   kIndented   load-balance policies / three blanks: fields   a line stands under the last one that is less indented
//   kBraces     forwarding-options { hash-key { … } }          and the same as `set forwarding-options hash-key …`
//
// Bounds: lines nested deeper than kMaxDepth are left out, and so are words of a line beyond kMaxWords.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "control/vendors/vendor_words.hpp"

namespace softspine::control {

struct ConfigurationLine {
  int number = 0;         // in the file, from 1
  std::string_view text;  // of this line alone, without blanks around it
  std::vector<std::string> words;

  static constexpr size_t kMaxDepth = 16;
  static constexpr size_t kMaxWords = 40;
};

// In the text's order; a line is valid during its call.
void for_each_line(std::string_view text, LineSyntax syntax, const std::function<void(const ConfigurationLine&)>& take);

// How many words of the line `words` takes up, if the line begins with them; `*` stands for any word. 0: it does not.
// A word of `words` that ends in a dot fits every word that begins with it.
size_t begins_with(const ConfigurationLine& line, std::string_view words);

}  // namespace softspine::control
