// SPDX-License-Identifier: Apache-2.0
#include "control/document/error.hpp"

#include <algorithm>
#include <tuple>

namespace softspine::control {

void sort_by_place(Errors& errors) {
  const auto place = [](const Error& e) { return std::tie(e.file, e.line, e.column, e.path, e.message); };
  std::ranges::stable_sort(errors, [&](const Error& a, const Error& b) { return place(a) < place(b); });
}

std::string to_string(const Error& error) {
  std::string out = error.file;
  if (error.line > 0) out += ":" + std::to_string(error.line) + ":" + std::to_string(error.column);
  if (!error.path.empty()) out += ": " + error.path;
  return out + ": " + error.message;
}

}  // namespace softspine::control
