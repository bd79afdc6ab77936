// SPDX-License-Identifier: Apache-2.0
#include "control/imports/field_lines.hpp"

#include <algorithm>
#include <utility>

namespace softspine::control {

std::vector<Field> FieldLines::next() {
  std::vector<Field> fields;
  while (fields.empty() && !rest_.empty()) {
    ++line_;
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    split(rest_.substr(0, end), fields);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
  }
  return fields;
}

void FieldLines::split(std::string_view line, std::vector<Field>& fields) const {
  constexpr std::string_view kBlank = " \t\r\v\f";
  size_t at = line.find_first_not_of(kBlank);
  while (at != std::string_view::npos) {
    const size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    fields.push_back({line.substr(at, end - at), line_, static_cast<int>(at) + 1});
    at = line.find_first_not_of(kBlank, end);
  }
}

bool ErrorsByKind::fail(std::string_view kind, const Field& at, std::string message) {
  const auto [place, is_new] = errors_.try_emplace(std::string(kind));
  Counted& counted = place->second;
  ++counted.count;
  if (is_new) counted.error = {file_, "", at.line, at.column, std::move(message)};
  return false;
}

void ErrorsByKind::put_into(ErrorLog& log) {
  for (auto& [kind, counted] : errors_) {
    if (counted.count > 1)
      counted.error.message += " (and " + std::to_string(counted.count - 1) + " more of this kind)";
    log.add(std::move(counted.error));
  }
  errors_.clear();
}

}  // namespace softspine::control
