// SPDX-License-Identifier: Apache-2.0
// The output of a command on stderr: progress, warnings, errors. fmt::print throws when its file takes nothing (a full
// disk, a closed stream), and a command that cannot complain must still do its work, write its files, and return its
// status.
//
//   complain("softspine: {}: cannot be written: {}\n", path, why);
//
// Text that stderr does not take is lost. The text brings its newline.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace softspine::tools {

template <typename... Parts>
void complain(fmt::format_string<Parts...> words, Parts&&... parts) noexcept {
  try {
    const std::string text = fmt::format(words, std::forward<Parts>(parts)...);
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
    std::fflush(stderr);
  } catch (...) {  // no memory for the text: it cannot be printed
    std::fputs("softspine: out of memory\n", stderr);
  }
}

}  // namespace softspine::tools
