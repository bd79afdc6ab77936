// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/sweep/sweep_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <set>

#include "control/telemetry/text_table.hpp"

namespace softspine::tools {

using control::Json;

namespace {

constexpr double kConfidence = 0.95;

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string out;
  for (size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : ",") + csv_cell(cells[i]);
  return out + "\n";
}

std::string csv_value(const Json& value) {
  if (value.is_null()) return {};
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// The values of a combination's axes, but for one.
std::vector<std::string> axis_cells(const Combinations& combinations, const std::vector<size_t>& places,
                                    std::optional<size_t> left_out) {
  std::vector<std::string> out;
  for (size_t i = 0; i < places.size(); ++i) {
    if (i != left_out) out.push_back(combinations.axes()[i].values[places[i]]);
  }
  return out;
}

std::vector<std::string> axis_names(const Combinations& combinations, std::optional<size_t> left_out) {
  std::vector<std::string> out = combinations.names();
  if (left_out) out.erase(out.begin() + static_cast<std::ptrdiff_t>(*left_out));
  return out;
}

std::string spread_text(const SweepSpread& spread, const std::string& key) {
  if (spread.count == 0) return "–";
  const std::string mean = quantity_text(key, spread.mean);
  return spread.count == 1 ? mean : fmt::format("{} ± {}", mean, quantity_text(key, spread.confidence));
}

std::string number_cell(double value) {
  return fmt::format("{:.10g}", value);
}

}  // namespace

std::string_view word_of(RowState state) {
  switch (state) {
    case RowState::kDone: return "ok";
    case RowState::kUnexpected: return "unexpected";
    case RowState::kFailed: return "failed";
    case RowState::kNotRun: break;
  }
  return "not run";
}

std::vector<SweepColumn> SweepResult::columns() const {
  std::vector<SweepColumn> out;
  std::map<std::string, size_t> known;
  for (const SweepRow& row : rows) {
    for (const CollectedValue& each : row.values) {
      const auto [at, is_new] = known.try_emplace(each.column, out.size());
      if (is_new) out.push_back({each.column, each.key});
      if (out[at->second].key.empty()) out[at->second].key = each.key;
    }
  }
  return out;
}

Json SweepResult::value(const SweepRow& row, const std::string& column) const {
  const auto found = std::ranges::find(row.values, column, &CollectedValue::column);
  return found == row.values.end() ? Json() : found->value;
}

SweepSpread spread_of(const std::vector<double>& numbers) {
  SweepSpread out{.count = numbers.size()};
  if (numbers.empty()) return out;
  const auto count = static_cast<double>(numbers.size());
  out.mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / count;
  const auto [least, most] = std::ranges::minmax(numbers);
  out.least = least;
  out.most = most;
  if (numbers.size() == 1) return out;
  double squares = 0;
  for (const double number : numbers) squares += (number - out.mean) * (number - out.mean);
  out.deviation = std::sqrt(squares / (count - 1));
  const boost::math::students_t student(count - 1);
  out.confidence = boost::math::quantile(student, 1 - (1 - kConfidence) / 2) * out.deviation / std::sqrt(count);
  return out;
}

std::vector<SweepSpreadRow> spread_over(const SweepResult& result, size_t axis) {
  const std::vector<SweepColumn> columns = result.columns();
  std::map<std::vector<size_t>, std::vector<std::vector<double>>> numbers;
  for (size_t i = 0; i < result.rows.size(); ++i) {
    std::vector<size_t> places = result.combinations.places(i);
    places[axis] = 0;
    auto& of_row = numbers[places];
    of_row.resize(columns.size());
    for (size_t column = 0; column < columns.size(); ++column) {
      const Json value = result.value(result.rows[i], columns[column].name);
      if (value.is_number()) of_row[column].push_back(value.get<double>());
    }
  }
  std::vector<SweepSpreadRow> out;
  for (const auto& [places, of_row] : numbers) {
    SweepSpreadRow& row = out.emplace_back(places);
    for (const std::vector<double>& each : of_row) row.spreads.push_back(spread_of(each));
  }
  return out;
}

std::string sweep_text(const SweepResult& result, std::optional<size_t> over) {
  const std::vector<SweepColumn> columns = result.columns();
  std::vector<std::string> heads;
  for (const std::string& name : axis_names(result.combinations, over)) heads.push_back(name);
  for (const SweepColumn& column : columns) heads.push_back(column.name);
  if (!over) heads.emplace_back("<RESULT");
  control::TextTable table{heads};
  if (over) {
    for (const SweepSpreadRow& row : spread_over(result, *over)) {
      std::vector<std::string> cells = axis_cells(result.combinations, row.places, over);
      for (size_t i = 0; i < columns.size(); ++i) cells.push_back(spread_text(row.spreads[i], columns[i].key));
      table.add(std::move(cells));
    }
    return table.text() + "(mean ± half of its 95 % confidence interval, over " +
           result.combinations.axes()[*over].path + ")\n";
  }
  for (size_t i = 0; i < result.rows.size(); ++i) {
    const SweepRow& row = result.rows[i];
    std::vector<std::string> cells = axis_cells(result.combinations, result.combinations.places(i), over);
    for (const SweepColumn& column : columns)
      cells.push_back(quantity_text(column.key, result.value(row, column.name)));
    cells.push_back(row.why.empty() ? std::string(word_of(row.state))
                                    : fmt::format("{}: {}", word_of(row.state), row.why));
    table.add(std::move(cells));
  }
  return table.text();
}

std::string sweep_csv(const SweepResult& result, std::optional<size_t> over) {
  const std::vector<SweepColumn> columns = result.columns();
  std::vector<std::string> heads = axis_names(result.combinations, over);
  std::string out;
  if (over) {
    for (const SweepColumn& column : columns) {
      for (const char* const part : {"", ":n", ":ci95", ":deviation", ":min", ":max"})
        heads.push_back(column.name + part);
    }
    out += csv_line(heads);
    for (const SweepSpreadRow& row : spread_over(result, *over)) {
      std::vector<std::string> cells = axis_cells(result.combinations, row.places, over);
      for (const SweepSpread& spread : row.spreads) {
        const bool is_there = spread.count > 0;
        cells.push_back(is_there ? number_cell(spread.mean) : "");
        cells.push_back(std::to_string(spread.count));
        for (const double value : {spread.confidence, spread.deviation, spread.least, spread.most})
          cells.push_back(is_there ? number_cell(value) : "");
      }
      out += csv_line(cells);
    }
    return out;
  }
  for (const SweepColumn& column : columns) heads.push_back(column.name);
  heads.emplace_back("result");
  heads.emplace_back("why");
  out += csv_line(heads);
  for (size_t i = 0; i < result.rows.size(); ++i) {
    std::vector<std::string> cells = axis_cells(result.combinations, result.combinations.places(i), over);
    for (const SweepColumn& column : columns) cells.push_back(csv_value(result.value(result.rows[i], column.name)));
    cells.emplace_back(word_of(result.rows[i].state));
    cells.push_back(result.rows[i].why);
    out += csv_line(cells);
  }
  return out;
}

Json sweep_json(const SweepResult& result, std::optional<size_t> over) {
  Json out{{"testbed", result.testbed}, {"axes", Json::array()}, {"rows", Json::array()}};
  for (const Axis& axis : result.combinations.axes())
    out["axes"].push_back({{"path", axis.path}, {"values", axis.values}});
  for (size_t i = 0; i < result.rows.size(); ++i) {
    const SweepRow& row = result.rows[i];
    Json settings = Json::object();
    for (const control::Setting& each : result.combinations.settings(i)) settings[each.path] = each.value;
    Json values = Json::object();
    for (const CollectedValue& each : row.values) values[each.column] = each.value;
    out["rows"].push_back({{"settings", std::move(settings)},
                           {"result", word_of(row.state)},
                           {"why", row.why},
                           {"cached", row.was_cached},
                           {"values", std::move(values)}});
  }
  if (!over) return out;
  const std::vector<SweepColumn> columns = result.columns();
  out["over"] = result.combinations.axes()[*over].path;
  out["spreads"] = Json::array();
  for (const SweepSpreadRow& row : spread_over(result, *over)) {
    Json settings = Json::object();
    for (size_t i = 0; i < row.places.size(); ++i) {
      const Axis& axis = result.combinations.axes()[i];
      if (i != *over) settings[axis.path] = axis.values[row.places[i]];
    }
    Json values = Json::object();
    for (size_t i = 0; i < columns.size(); ++i) {
      const SweepSpread& it = row.spreads[i];
      values[columns[i].name] = {{"n", it.count},         {"mean", it.mean},
                                 {"ci95", it.confidence}, {"deviation", it.deviation},
                                 {"min", it.least},       {"max", it.most}};
    }
    out["spreads"].push_back({{"settings", std::move(settings)}, {"values", std::move(values)}});
  }
  return out;
}

}  // namespace softspine::tools
