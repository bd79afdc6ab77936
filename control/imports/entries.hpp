// SPDX-License-Identifier: Apache-2.0
// Looks into maps whose keys are declared in no table.
#pragma once

#include <optional>
#include <string_view>

#include "control/document/document.hpp"

namespace softspine::control {

inline bool is_map(const std::optional<Value>& value) {
  return value && value->kind() == ValueKind::kMap;
}
inline std::optional<Value> scalar(std::optional<Value> value) {
  return value && value->kind() == ValueKind::kScalar ? value : std::nullopt;
}
// Empty if there is none.
inline std::string_view text_at(Value map, std::string_view key) {
  const auto found = scalar(entry(map, key));
  return found ? found->text() : std::string_view{};
}

}  // namespace softspine::control
