// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "control/load/resolve.hpp"

namespace softspine::control {
namespace {

// Keys between dots: none empty.
bool is_report_path(std::string_view path) {
  if (path.empty() || path.size() > 512 || path.front() == '.' || path.back() == '.') return false;
  return path.find("..") == std::string_view::npos;
}

bool is_ordered(const Expected& bound) {
  return std::holds_alternative<Measure>(bound);
}

// What holds whatever a run does expects nothing: no number in a report is less than 0.
void check_that_it_can_fail(Reader& reader, const Expectation& out, Value row, Value where) {
  if (out.within >= 1) {
    reader.fail(row.child("within"), "holds for every value from 0 to the double: expected less than 100%");
  }
  const auto* bound = out.bounds.size() == 1 ? std::get_if<Measure>(&out.bounds[0]) : nullptr;
  if (out.comparison != Comparison::kAtLeast || bound == nullptr || bound->value > 0) return;
  reader.fail(where, "holds whatever the run does, since nothing is less than 0: expected more than 0");
}

void check_bounds(Reader& reader, const Expectation& out, Value where) {
  const bool equal = out.comparison == Comparison::kEqual;
  if (equal && out.within == 0) return;
  const std::vector<Value> places = where.each();
  for (size_t i = 0; i < std::min(places.size(), out.bounds.size()); ++i) {
    if (!is_ordered(out.bounds[i]))
      reader.fail(places[i], "a word has no more and no less: expected a number or a quantity");
  }
  if (out.comparison != Comparison::kBetween || out.bounds.size() != 2) return;
  const auto* low = std::get_if<Measure>(&out.bounds[0]);
  const auto* high = std::get_if<Measure>(&out.bounds[1]);
  if (low == nullptr || high == nullptr) return;
  if (low->dimension != high->dimension) {
    reader.fail(where, shown(low->text) + " and " + shown(high->text) + " are not of one kind");
  } else if (low->value > high->value) {
    reader.fail(where, shown(low->text) + " is more than " + shown(high->text));
  }
}

}  // namespace

std::vector<Expectation> resolve_expectations(Reader& reader, const std::vector<ExpectRow>& rows) {
  std::vector<Expectation> out;
  for (const ExpectRow& row : rows) {
    if (row.where.kind() != ValueKind::kMap) continue;
    Expectation expectation{
        .value = row.value, .path = row.where.path(), .line = row.where.at().line, .column = row.where.at().column};
    if (row.within) expectation.within = static_cast<double>(row.within->millionths) * 1e-6;
    std::string_view key = "equal";
    const auto take = [&](const std::optional<Expected>& bound, Comparison comparison, std::string_view name) {
      if (!bound) return;
      expectation.comparison = comparison;
      expectation.bounds = {*bound};
      key = name;
    };
    take(row.equal, Comparison::kEqual, "equal");
    take(row.at_least, Comparison::kAtLeast, "at_least");
    take(row.at_most, Comparison::kAtMost, "at_most");
    if (row.between) {
      expectation.comparison = Comparison::kBetween;
      expectation.bounds = *row.between;
      key = "between";
    }
    check_bounds(reader, expectation, row.where.child(key));
    check_that_it_can_fail(reader, expectation, row.where, row.where.child(key));
    if (!reader.is_invalid(row.where.child("value")) && !is_report_path(row.value)) {
      reader.fail(row.where.child("value"), shown(row.value) + " is no path: keys joined by single dots");
    }
    out.push_back(std::move(expectation));
  }
  return out;
}

}  // namespace softspine::control
