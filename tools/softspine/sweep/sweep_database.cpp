// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/sweep/sweep_database.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <vector>

#include "control/expect/report_path.hpp"
#include "control/record/database.hpp"

namespace softspine::tools {

using control::Database;
using control::Json;
using control::Statement;

namespace {

// A column NUMERIC takes a text that is a number as that number.
constexpr const char* kTables =
    "PRAGMA journal_mode = OFF; BEGIN;"
    "CREATE TABLE sweep(testbed TEXT NOT NULL, repeated_path TEXT);"
    "CREATE TABLE axes(axis_id INTEGER PRIMARY KEY, path TEXT NOT NULL, name TEXT NOT NULL);"
    "CREATE TABLE columns(column_id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT);"
    "CREATE TABLE runs(run_id INTEGER PRIMARY KEY, result TEXT NOT NULL, why TEXT, cached INTEGER NOT NULL);"
    "CREATE TABLE settings(run_id INTEGER REFERENCES runs, axis_id INTEGER REFERENCES axes, text TEXT NOT NULL,"
    " value NUMERIC NOT NULL, PRIMARY KEY(run_id, axis_id)) WITHOUT ROWID;"
    "CREATE TABLE results(run_id INTEGER REFERENCES runs, column_id INTEGER REFERENCES columns, value NUMERIC NOT NULL,"
    " PRIMARY KEY(run_id, column_id)) WITHOUT ROWID;"
    "CREATE TABLE spreads(spread_id INTEGER, column_id INTEGER REFERENCES columns, n INTEGER NOT NULL, mean NUMERIC,"
    " ci95 NUMERIC, deviation NUMERIC, least NUMERIC, most NUMERIC, PRIMARY KEY(spread_id, column_id)) WITHOUT ROWID;"
    "CREATE TABLE spread_settings(spread_id INTEGER, axis_id INTEGER REFERENCES axes, text TEXT NOT NULL,"
    " value NUMERIC NOT NULL, PRIMARY KEY(spread_id, axis_id)) WITHOUT ROWID";

std::string exact(double number) {
  return fmt::format("{}", number);
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// In quotes, as SQLite has names; it takes a and A for one.
std::string column_name(const std::string& name, std::set<std::string>& taken) {
  const auto folded = [](std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  };
  std::string out = name;
  for (int i = 2; !taken.insert(folded(out)).second; ++i) out = fmt::format("{}_{}", name, i);
  std::string quoted = "\"";
  for (const char c : out) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

class SweepWriter {
 public:
  SweepWriter(Database& into, const SweepResult& result, std::optional<size_t> over)
      : into_(into), result_(result), over_(over), columns_(result.columns()), axes_(result.combinations.axes()) {}

  void write() {
    into_.run(kTables);
    add_names();
    add_runs();
    if (over_) add_spreads();
    if (axes_.size() + columns_.size() <= kWidest) add_view();
    into_.run("COMMIT");
  }

 private:
  void add_names() {
    Statement sweep(into_, "INSERT INTO sweep VALUES(?, ?)");
    sweep.add(result_.testbed);
    if (over_) sweep.add(axes_[*over_].path);
    sweep.done();
    Statement axis(into_, "INSERT INTO axes VALUES(?, ?, ?)");
    const std::vector<std::string> names = result_.combinations.names();
    for (size_t i = 0; i < axes_.size(); ++i) axis.add(uint64_t{i}).add(axes_[i].path).add(names[i]).done();
    Statement column(into_, "INSERT INTO columns VALUES(?, ?, ?)");
    for (size_t i = 0; i < columns_.size(); ++i) {
      column.add(uint64_t{i}).add(columns_[i].name);
      if (const auto unit = control::unit_of_key(columns_[i].key)) column.add(unit->ending.substr(1));
      column.done();
    }
  }

  void add_runs() {
    Statement run(into_, "INSERT INTO runs VALUES(?, ?, ?, ?)");
    Statement setting(into_, "INSERT INTO settings VALUES(?, ?, ?, ?)");
    Statement value(into_, "INSERT INTO results VALUES(?, ?, ?)");
    std::map<std::string, uint64_t> number_of;
    for (const SweepColumn& column : columns_) number_of.emplace(column.name, number_of.size());
    for (uint64_t i = 0; i < result_.rows.size(); ++i) {
      const SweepRow& row = result_.rows[i];
      run.add(i).add(word_of(row.state));
      if (row.why.empty()) {
        run.add_null();
      } else {
        run.add(row.why);
      }
      run.add(uint32_t{row.was_cached}).done();
      add_settings(setting, i, result_.combinations.places(i), std::nullopt);
      for (const CollectedValue& each : row.values) {
        if (!each.value.is_null()) value.add(i).add(number_of.at(each.column)).add(text_of(each.value)).done();
      }
    }
  }

  void add_settings(Statement& into, uint64_t of, const std::vector<size_t>& places, std::optional<size_t> left_out) {
    for (size_t axis = 0; axis < places.size(); ++axis) {
      const std::string& text = axes_[axis].values[places[axis]];
      if (axis != left_out) into.add(of).add(uint64_t{axis}).add(text).add(text).done();
    }
  }

  void add_spreads() {
    Statement spread(into_, "INSERT INTO spreads VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
    Statement setting(into_, "INSERT INTO spread_settings VALUES(?, ?, ?, ?)");
    uint64_t number = 0;
    for (const SweepSpreadRow& row : spread_over(result_, *over_)) {
      add_settings(setting, number, row.places, over_);
      for (size_t i = 0; i < columns_.size(); ++i) {
        const SweepSpread& it = row.spreads[i];
        spread.add(number).add(uint64_t{i}).add(uint64_t{it.count});
        for (const double value : {it.mean, it.confidence, it.deviation, it.least, it.most}) {
          if (it.count > 0) spread.add(exact(value));
        }
        spread.done();
      }
      ++number;
    }
  }

  void add_view() {
    std::set<std::string> taken{"run_id", "result", "why"};
    std::string sql = "CREATE VIEW by_run AS SELECT run_id";
    const std::vector<std::string> names = result_.combinations.names();
    for (size_t i = 0; i < names.size(); ++i) {
      sql += fmt::format(", (SELECT value FROM settings WHERE run_id = runs.run_id AND axis_id = {}) AS {}", i,
                         column_name(names[i], taken));
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
      sql += fmt::format(", (SELECT value FROM results WHERE run_id = runs.run_id AND column_id = {}) AS {}", i,
                         column_name(columns_[i].name, taken));
    }
    into_.run(sql + ", result, why FROM runs");
  }

  Database& into_;
  const SweepResult& result_;
  std::optional<size_t> over_;
  std::vector<SweepColumn> columns_;
  const std::vector<Axis>& axes_;
};

}  // namespace

std::expected<void, std::string> make_sweep_database(const std::filesystem::path& file, const SweepResult& result,
                                                     std::optional<size_t> over) {
  auto database = Database::create(file);
  if (!database) return std::unexpected(database.error());
  SweepWriter{*database, result, over}.write();
  if (!database->is_fine()) return std::unexpected(database->error());
  return {};
}

}  // namespace softspine::tools
