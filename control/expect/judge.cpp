// SPDX-License-Identifier: Apache-2.0
#include "control/expect/judge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include "control/document/words.hpp"
#include "control/expect/report_path.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::control {
namespace {

constexpr double kSlack = 1e-12;

struct PrintUnit {
  double scale;
  const char* name;
};

// Four digits are what a person compares; a whole number stays whole.
std::string plain(double value) {
  char out[40];
  const bool whole = value == std::trunc(value) && std::abs(value) < 1e15;
  std::snprintf(out, sizeof out, whole ? "%.0f" : "%.6g", value);
  return out;
}

template <size_t N>
std::string in_units(double value, const std::array<PrintUnit, N>& units) {
  const PrintUnit* best = &units[0];
  for (const PrintUnit& unit : units) {
    if (std::abs(value) >= unit.scale) best = &unit;
  }
  return plain(value / best->scale) + best->name;
}

std::string printed(double value, Dimension dimension) {
  static constexpr std::array kDurations{PrintUnit{1, "ps"}, PrintUnit{1e3, "ns"}, PrintUnit{1e6, "us"},
                                         PrintUnit{1e9, "ms"}, PrintUnit{1e12, "s"}};
  static constexpr std::array kRates{PrintUnit{1, "bps"}, PrintUnit{1e3, "kbps"}, PrintUnit{1e6, "Mbps"},
                                     PrintUnit{1e9, "Gbps"}, PrintUnit{1e12, "Tbps"}};
  static constexpr std::array kSizes{PrintUnit{1, "B"}, PrintUnit{1 << 10, "KiB"}, PrintUnit{1 << 20, "MiB"},
                                     PrintUnit{1 << 30, "GiB"}};
  switch (dimension) {
    case Dimension::kDuration: return in_units(value, kDurations);
    case Dimension::kRate: return in_units(value, kRates);
    case Dimension::kBytes: return in_units(value, kSizes);
    case Dimension::kShare: return plain(value * 100) + "%";
    case Dimension::kNumber: break;
  }
  return plain(value);
}

std::string printed(const Json& value) {
  if (value.is_string()) return shown(value.get_ref<const std::string&>());
  if (value.is_object()) return "a map";
  if (value.is_array()) return "a list";
  return value.dump();
}

std::string printed(const Expected& bound) {
  if (const auto* measure = std::get_if<Measure>(&bound)) return measure->text;
  if (const auto* flag = std::get_if<bool>(&bound)) return *flag ? "true" : "false";
  return shown(std::get<std::string>(bound));
}

bool below(double a, double b) {
  return a <= b + kSlack * std::max(std::abs(a), std::abs(b));
}

// The value of one match, and whether it is as it must be.
struct Finding {
  bool held = false;
  std::string found;
};

Finding compare_measures(const Expectation& expectation, const Match& match) {
  const auto& first = std::get<Measure>(expectation.bounds[0]);
  if (!match.value->is_number()) return {false, printed(*match.value) + ", which is no number"};
  double value = match.value->get<double>();
  const auto unit = unit_of_key(match.key);
  const bool with_unit = first.dimension != Dimension::kNumber;
  if (with_unit && unit && unit->dimension != first.dimension) {
    return {false, printed(value * unit->scale, unit->dimension) + ", which is of another kind"};
  }
  if (first.dimension == Dimension::kShare && !unit && !is_ratio(match.key)) {
    return {false, printed(value, Dimension::kNumber) + ", which is no share"};
  }
  if (with_unit && unit) value *= unit->scale;
  const double bound = first.value;
  const std::string found = printed(value, first.dimension);
  switch (expectation.comparison) {
    case Comparison::kEqual:
      return {below(std::abs(value - bound), expectation.within * std::abs(bound) + kSlack * std::abs(bound)), found};
    case Comparison::kAtLeast: return {below(bound, value), found};
    case Comparison::kAtMost: return {below(value, bound), found};
    case Comparison::kBetween:
      return {below(bound, value) && below(value, std::get<Measure>(expectation.bounds[1]).value), found};
  }
  return {false, found};
}

Finding compare(const Expectation& expectation, const Match& match) {
  const Expected& bound = expectation.bounds[0];
  const Json& value = *match.value;
  if (std::holds_alternative<Measure>(bound)) return compare_measures(expectation, match);
  if (const auto* flag = std::get_if<bool>(&bound)) {
    return {value.is_boolean() && value.get<bool>() == *flag, printed(value)};
  }
  return {value.is_string() && value.get_ref<const std::string&>() == std::get<std::string>(bound), printed(value)};
}

std::string demand(const Expectation& expectation) {
  const std::string bound = printed(expectation.bounds[0]);
  switch (expectation.comparison) {
    case Comparison::kAtLeast: return "at_least " + bound;
    case Comparison::kAtMost: return "at_most " + bound;
    case Comparison::kBetween: return "between " + bound + " and " + printed(expectation.bounds[1]);
    case Comparison::kEqual: break;
  }
  const bool loose = expectation.within > 0;
  return "equal " + bound + (loose ? " within " + printed(expectation.within, Dimension::kShare) : "");
}

Verdict judge_matches(const Expectation& expectation, const std::vector<Match>& matches) {
  Verdict out{.expectation = &expectation, .held = true};
  std::string outcome;
  size_t failures = 0;
  for (const Match& match : matches) {
    const Finding finding = compare(expectation, match);
    if (out.found.empty() || (out.held && !finding.held)) out.found = finding.found;
    if (finding.held) continue;
    out.held = false;
    if (++failures > kMaxFailuresListed) continue;
    outcome += (outcome.empty() ? "" : "; ") + (matches.size() > 1 ? match.path + " " : "") + "is " + finding.found;
  }
  const std::string of_all = " of " + std::to_string(matches.size());
  if (failures > kMaxFailuresListed)
    outcome += "; and " + std::to_string(failures - kMaxFailuresListed) + " more" + of_all;
  if (out.held) {
    outcome = matches.size() == 1 ? "is " + out.found : "all " + std::to_string(matches.size()) + " are";
  }
  out.text = expectation.value + ": " + demand(expectation) + ", " + outcome;
  return out;
}

Verdict judge_one(const Expectation& expectation, const Json& report) {
  const bool complete = expectation.bounds.size() == (expectation.comparison == Comparison::kBetween ? 2u : 1u);
  if (!complete) return {&expectation, false, "", expectation.value + ": says nothing that could be judged"};
  const Found found = find_in_report(report, expectation.value);
  if (!found.matches.empty()) return judge_matches(expectation, found.matches);
  return {&expectation, false, "", expectation.value + ": " + demand(expectation) + ", but " + found.missing};
}

}  // namespace

std::vector<Verdict> judge(const std::vector<Expectation>& expectations, const Json& report) {
  std::vector<Verdict> out;
  out.reserve(expectations.size());
  for (const Expectation& expectation : expectations) out.push_back(judge_one(expectation, report));
  return out;
}

uint64_t unexpected_stalls(const std::vector<Expectation>& expectations, const Json& report) {
  std::set<std::string> named;
  for (const Expectation& each : expectations) {
    if (!each.value.ends_with(".stalled_flows")) continue;
    for (const Match& match : find_in_report(report, each.value).matches) named.insert(match.path);
  }
  if (named.contains("totals.stalled_flows")) return 0;
  uint64_t out = 0;
  for (const auto& [name, flows] : report["flows"].items()) {
    if (!named.contains("flows." + name + ".stalled_flows")) out += flows["stalled_flows"].get<uint64_t>();
  }
  return out;
}

}  // namespace softspine::control
