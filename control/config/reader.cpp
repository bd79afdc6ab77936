// SPDX-License-Identifier: Apache-2.0
#include "control/config/reader.hpp"

#include <algorithm>
#include <tuple>

namespace softspine::control {
namespace {

std::string described(Value value) {
  switch (value.kind()) {
    case ValueKind::kNull: return "nothing";
    case ValueKind::kSequence: return "a list";
    case ValueKind::kMap: return "a map";
    case ValueKind::kScalar: break;
  }
  return shown(value.text());
}

}  // namespace

bool Reader::wrong(Value at, std::string message) {
  const Position position = at.at();
  errors_.push_back({file_, at.path(), position.line, position.column, std::move(message)});
  return false;
}

bool Reader::wrong_type(Value at, std::string_view expected) {
  return wrong(at, "expected " + std::string(expected) + ", found " + described(at));
}

Errors Reader::finish() {
  const auto place = [](const Error& e) { return std::tie(e.line, e.column, e.path, e.message); };
  std::ranges::stable_sort(errors_, [&](const Error& a, const Error& b) { return place(a) < place(b); });
  const auto repeated = std::ranges::unique(errors_);
  errors_.erase(repeated.begin(), repeated.end());
  return std::move(errors_);
}

}  // namespace softspine::control
