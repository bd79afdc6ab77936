// SPDX-License-Identifier: Apache-2.0
// The rows of a sweep, one a run, as a table for a person, CSV and JSON; and over a path that was repeated (a seed) the
// mean with its confidence interval.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/telemetry/json.hpp"
#include "tools/softspine/sweep/axes.hpp"
#include "tools/softspine/sweep/wanted_value.hpp"

namespace softspine::tools {

enum class RowState : uint8_t {
  kDone,
  kUnexpected,  // it ran: an expectation failed, or something in it
  kFailed,      // there is no report: refused, killed
  kNotRun,      // the sweep was interrupted before
};
std::string_view word_of(RowState state);

struct SweepRow {
  RowState state = RowState::kNotRun;
  bool was_cached = false;
  std::string why;  // empty if it is done
  std::vector<CollectedValue> values;
};

struct SweepColumn {
  std::string name;
  std::string key;  // of the report: its unit
};

struct SweepResult {
  std::string testbed;  // the file
  Combinations combinations;
  std::vector<SweepRow> rows;  // by number of the combination

  // In the order in which rows first have them.
  std::vector<SweepColumn> columns() const;
  // A row's value of a column; null if it has none.
  control::Json value(const SweepRow& row, const std::string& column) const;
};

// Of the runs that differ in one axis alone.
struct SweepSpread {
  size_t count = 0;  // numbers there were
  double mean = 0;
  double least = 0;
  double most = 0;
  double deviation = 0;   // standard, of the sample; 0 of one
  double confidence = 0;  // half the width of the mean's 95 % interval, by Student's t; 0 of one
};
SweepSpread spread_of(const std::vector<double>& numbers);

struct SweepSpreadRow {
  std::vector<size_t> places;        // as Combinations::places; that of the repeated axis is 0
  std::vector<SweepSpread> spreads;  // by column
};
// By the other axes, in order.
std::vector<SweepSpreadRow> spread_over(const SweepResult& result, size_t axis);

std::string sweep_text(const SweepResult& result, std::optional<size_t> over);
std::string sweep_csv(const SweepResult& result, std::optional<size_t> over);
control::Json sweep_json(const SweepResult& result, std::optional<size_t> over);

}  // namespace softspine::tools
