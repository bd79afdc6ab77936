// SPDX-License-Identifier: Apache-2.0
#include "control/load/expectation_check.hpp"

#include <cstdio>

#include "control/document/words.hpp"
#include "control/expect/report_path.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::control {
namespace {

std::string kind_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::kDuration: return "a duration";
    case Dimension::kRate: return "a rate";
    case Dimension::kBytes: return "a size";
    case Dimension::kShare: return "a share";
    case Dimension::kNumber: break;
  }
  return "a number";
}

const char* example_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::kDuration: return "us";
    case Dimension::kRate: return "Gbps";
    case Dimension::kBytes: return "KiB";
    default: return "%";
  }
}

std::string kind_of(const Json& value) {
  if (value.is_object()) return "a map";
  if (value.is_array()) return "a list";
  if (value.is_boolean()) return "true or false";
  return value.is_string() ? "a word" : "a number";
}

std::string in_words(double value) {
  char out[32];
  std::snprintf(out, sizeof out, "%g", value);
  return out;
}

std::string wrong_measure(const Measure& bound, const Match& match) {
  const auto unit = unit_of_key(match.key);
  const std::string place = match.path + " is ";
  if (!unit && bound.dimension == Dimension::kNumber && bound.value > 1 && is_share_of_one(match.key)) {
    return place + "a share of 1, and " + bound.text + " is more than all: " + bound.text + "%?";
  }
  if (!unit && bound.dimension == Dimension::kShare && !is_ratio(match.key)) {
    return place + "a number, not a share of something: " + bound.text + " of it would be " + in_words(bound.value);
  }
  if (!unit) {
    const bool fits = bound.dimension == Dimension::kNumber || bound.dimension == Dimension::kShare;
    return fits ? "" : place + "a number without a unit, not " + kind_of(bound.dimension) + " such as " + bound.text;
  }
  if (bound.dimension == unit->dimension) return "";
  if (bound.dimension != Dimension::kNumber) {
    return place + kind_of(unit->dimension) + ", not " + kind_of(bound.dimension) + " such as " + bound.text;
  }
  if (bound.value == 0) return "";
  return place + kind_of(unit->dimension) + ": " + bound.text + " needs a unit, such as " + bound.text +
         example_of(unit->dimension);
}

// Empty: it can be judged.
std::string wrong_bound(const Expected& bound, const Match& match) {
  const Json& value = *match.value;
  if (&value == &unknown_value()) return "";
  const bool is_measure = std::holds_alternative<Measure>(bound);
  const bool is_flag = std::holds_alternative<bool>(bound);
  const bool is_number = value.is_number() || value.is_null();
  const bool fits = is_measure ? is_number : is_flag ? value.is_boolean() : value.is_string();
  if (fits) return is_measure ? wrong_measure(std::get<Measure>(bound), match) : "";
  const std::string expected = is_measure ? "a number" : is_flag ? "true or false" : "a word";
  return match.path + " is " + kind_of(value) + ", not " + expected;
}

// What a share cannot but be: no more than all.
std::string cannot_fail(const Expectation& expectation, const Match& match) {
  if (!is_share_of_one(match.key) || match.value == &unknown_value()) return "";
  const auto* first = std::get_if<Measure>(&expectation.bounds.front());
  const auto* last = std::get_if<Measure>(&expectation.bounds.back());
  if (first == nullptr || last == nullptr || last->value < 1) return "";
  const bool holds = expectation.comparison == Comparison::kAtMost ||
                     (expectation.comparison == Comparison::kBetween && first->value <= 0);
  return holds ? match.path + " is a share, never more than all: this holds whatever the run does" : "";
}

std::string validate(const Expectation& expectation, const Json& outline) {
  const Found found = find_in_outline(outline, expectation.value);
  if (found.matches.empty()) return "the report of this testbed has no such value: " + found.missing;
  for (const Match& match : found.matches) {
    for (const Expected& bound : expectation.bounds) {
      if (std::string wrong = wrong_bound(bound, match); !wrong.empty()) return wrong;
    }
    if (std::string wrong = cannot_fail(expectation, match); !wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace

Errors check_expectations(const std::vector<Expectation>& expectations, const Json& outline, const std::string& file) {
  Errors out;
  for (const Expectation& each : expectations) {
    std::string wrong = validate(each, outline);
    if (!wrong.empty()) out.push_back({file, each.path, each.line, each.column, each.value + ": " + std::move(wrong)});
  }
  return out;
}

}  // namespace softspine::control
