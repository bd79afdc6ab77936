// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/sweep/wanted_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "control/document/words.hpp"
#include "control/expect/report_path.hpp"
#include "tools/softspine/summary/summary_words.hpp"

namespace softspine::tools {

using control::Json;

namespace {

struct GatheringRow {
  std::string_view word;
  Gathering gathering;
  double (*of)(const std::vector<double>& sorted);  // of one at least
};

double by_rank(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}
double sum_of(const std::vector<double>& sorted) {
  return std::accumulate(sorted.begin(), sorted.end(), 0.0);
}

constexpr std::array kGatherings{
    GatheringRow{"sum", Gathering::kSum, sum_of},
    GatheringRow{"mean", Gathering::kMean,
                 [](const std::vector<double>& sorted) { return sum_of(sorted) / static_cast<double>(sorted.size()); }},
    GatheringRow{"min", Gathering::kMin, [](const std::vector<double>& sorted) { return sorted.front(); }},
    GatheringRow{"max", Gathering::kMax, [](const std::vector<double>& sorted) { return sorted.back(); }},
    GatheringRow{"p50", Gathering::kMedian, [](const std::vector<double>& sorted) { return by_rank(sorted, 0.5); }},
    GatheringRow{"p99", Gathering::kP99, [](const std::vector<double>& sorted) { return by_rank(sorted, 0.99); }},
    GatheringRow{"count", Gathering::kCount,
                 [](const std::vector<double>& sorted) { return static_cast<double>(sorted.size()); }}};

std::string known_words() {
  std::string out;
  for (const GatheringRow& row : kGatherings) out += (out.empty() ? "" : ", ") + std::string(row.word);
  return out;
}

Json whole_if_it_is(double value) {
  const bool is_whole = value == std::trunc(value) && std::abs(value) < 9e15;
  return is_whole ? Json(static_cast<int64_t>(value)) : Json(value);
}

// The unit of the key's numbers ends a column's name, as it ends the report's keys.
std::string with_unit(std::string name, const std::string& key) {
  const auto unit = control::unit_of_key(key);
  return unit && !name.ends_with(unit->ending) ? name + std::string(unit->ending) : name;
}

CollectedValue gathered(const WantedValue& wanted, const std::vector<control::Match>& matches) {
  const auto row = std::ranges::find(kGatherings, wanted.gathering, &GatheringRow::gathering);
  CollectedValue out;
  if (!matches.empty() && wanted.gathering != Gathering::kCount) out.key = matches.front().key;
  out.column = fmt::format("{}({})", row->word, with_unit(wanted.path, out.key));
  std::vector<double> numbers;
  for (const control::Match& match : matches) {
    if (match.value->is_number()) numbers.push_back(match.value->get<double>());
  }
  std::ranges::sort(numbers);
  if (numbers.empty() && wanted.gathering == Gathering::kCount) out.value = 0;
  if (!numbers.empty()) out.value = whole_if_it_is(row->of(numbers));
  return out;
}

}  // namespace

std::expected<WantedValue, std::string> wanted_value(std::string_view text) {
  WantedValue out;
  const size_t equals = text.find('=');
  std::string_view rest = text;
  if (equals != std::string_view::npos) {
    out.name = text.substr(0, equals);
    rest = text.substr(equals + 1);
    if (out.name.empty()) return std::unexpected(fmt::format("{}: a name is missing", control::shown(text)));
  }
  const size_t open = rest.find('(');
  if (open != std::string_view::npos && rest.ends_with(')')) {
    const auto row = std::ranges::find(kGatherings, rest.substr(0, open), &GatheringRow::word);
    if (row == kGatherings.end()) {
      return std::unexpected(
          fmt::format("there is no function {}: there are {}", control::shown(rest.substr(0, open)), known_words()));
    }
    out.gathering = row->gathering;
    rest = rest.substr(open + 1, rest.size() - open - 2);
  }
  if (rest.empty()) return std::unexpected(fmt::format("{}: a path is missing", control::shown(text)));
  out.path = rest;
  return out;
}

std::vector<CollectedValue> collected(const Json& report, const WantedValue& wanted) {
  const std::vector<control::Match> matches = control::find_in_report(report, wanted.path).matches;
  std::vector<CollectedValue> out;
  if (wanted.gathering != Gathering::kEach) {
    out.push_back(gathered(wanted, matches));
  } else {
    for (const control::Match& match : matches) {
      const bool is_shown = !match.value->is_object() && !match.value->is_array();
      if (is_shown) out.push_back({.column = match.path, .key = match.key, .value = *match.value});
    }
  }
  for (CollectedValue& each : out) {
    if (wanted.name.empty()) continue;
    each.column = out.size() == 1 ? with_unit(wanted.name, each.key) : wanted.name + ":" + each.column;
  }
  return out;
}

std::string quantity_text(const std::string& key, const Json& value) {
  if (value.is_null()) return "–";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number()) return value.dump();
  const auto unit = control::unit_of_key(key);
  const double number = value.get<double>();
  if (!unit) return fmt::format("{:.6g}", number);
  switch (unit->dimension) {
    case control::Dimension::kDuration: return short_time(Json(std::llround(number * unit->scale)));
    case control::Dimension::kRate: return short_number(number * unit->scale, "b/s");
    case control::Dimension::kBytes: return short_number(number * unit->scale, "B");
    case control::Dimension::kShare: return fmt::format("{:.4g} %", number * unit->scale * 100);
    case control::Dimension::kNumber: break;
  }
  return fmt::format("{:.6g}", number);
}

}  // namespace softspine::tools
