// SPDX-License-Identifier: Apache-2.0
#include "control/report/outline_models.hpp"

#include <string_view>

#include "control/telemetry/json.hpp"

namespace softspine::control {

namespace {

constexpr const char* kAnyName = "*";

Json value_of(const ReportField& field) {
  if (field.is.starts_with("text")) return "";
  return field.is == "true or false" ? Json(false) : Json(0);
}

// `is_model`: below a list or an open map, where what is missing is added.
void place(Json& at, std::string_view rest, const ReportField& field, bool is_model) {
  if (rest.empty()) {
    if (is_model && at.is_null()) at = value_of(field);
    return;
  }
  const std::string step{rest.substr(0, rest.find('.'))};
  const std::string_view below = step.size() == rest.size() ? std::string_view{} : rest.substr(step.size() + 1);
  if (at.is_array()) {
    if (step != kAnyName) return;
    if (at.empty()) at.push_back(nullptr);
    return place(at[0], below, field, true);
  }
  if (at.is_null() && is_model) at = Json::object();
  if (!at.is_object()) return;
  if (at.contains(step) || is_model) return place(at[step], below, field, is_model || step == kAnyName);
  if (step != kAnyName) return;
  for (auto& [name, child] : at.items()) place(child, below, field, false);
}

}  // namespace

void add_models(Json& outline, const std::vector<ReportField>& fields) {
  for (const ReportField& field : fields) place(outline, field.path, field, false);
}

}  // namespace softspine::control
