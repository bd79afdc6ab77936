// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/sweep/sweep_database.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "control/record/database.hpp"

namespace softspine::tools {
namespace {

using control::Json;
using testing::ElementsAre;

class SweepDatabase : public testing::Test {
 protected:
  ~SweepDatabase() override { std::filesystem::remove(file_); }

  // Each row's cells, with bars between; text in quotes.
  std::vector<std::string> rows(const SweepResult& result, std::optional<size_t> over, const std::string& sql) {
    const auto made = make_sweep_database(file_, result, over);
    EXPECT_TRUE(made) << made.error();
    EXPECT_FALSE(std::filesystem::exists(file_.string() + "-journal"));
    auto database = control::Database::read(file_);
    EXPECT_TRUE(database);
    std::vector<std::string> out;
    {
      control::Statement query{*database, sql};
      while (query.next()) {
        std::string& row = out.emplace_back();
        for (int i = 0; i < query.columns(); ++i) row += (i == 0 ? "" : "|") + (query.is_null(i) ? "-" : query.text(i));
      }
    }
    EXPECT_EQ(database->error(), "");
    return out;
  }

 private:
  std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) / ("sweep-" + std::to_string(getpid()) + ".sqlite");
};

// Two axes of which one is repeated; one run failed, one has a word, and its columns differ in a letter's case.
SweepResult mixed_rows() {
  SweepResult out{"t.yaml", Combinations::of({*axis_of("a.x=1KiB,2"), *axis_of("run.seed=1,10")}).value(), {}};
  out.rows = {{.state = RowState::kDone, .values = {{"t_ps", "t_ps", 10}, {"load", "utilisation", 0.1}}},
              {.state = RowState::kUnexpected, .was_cached = true, .why = "late", .values = {{"t_ps", "t_ps", 13}}},
              {.state = RowState::kFailed, .why = "no \"luck\""},
              {.state = RowState::kDone, .values = {{"t_ps", "t_ps", Json()}, {"Load", "clock", "virtual"}}}};
  return out;
}

TEST_F(SweepDatabase, HasARowForEachRun) {
  EXPECT_THAT(rows(mixed_rows(), {}, "SELECT * FROM runs"),
              ElementsAre("0|ok|-|0", "1|unexpected|late|1", "2|failed|no \"luck\"|0", "3|ok|-|0"));
  EXPECT_THAT(rows(mixed_rows(), {},
                   "SELECT path, name, text, typeof(value) FROM settings JOIN axes USING(axis_id) "
                   "WHERE run_id IN (1, 2)"),
              ElementsAre("a.x|x|1KiB|text", "run.seed|seed|10|integer", "a.x|x|2|integer", "run.seed|seed|1|integer"));
  EXPECT_THAT(
      rows(mixed_rows(), {},
           "SELECT run_id, name, unit, value, typeof(value) FROM results JOIN columns "
           "USING(column_id)"),
      ElementsAre("0|t_ps|ps|10|integer", "0|load|-|0.1|real", "1|t_ps|ps|13|integer", "3|Load|-|virtual|text"));
}

TEST_F(SweepDatabase, ShowsTheTableAsTheFileOfCommasHasIt) {
  EXPECT_THAT(rows(mixed_rows(), {}, "SELECT * FROM by_run"),
              ElementsAre("0|1KiB|1|10|0.1|-|ok|-", "1|1KiB|10|13|-|-|unexpected|late",
                          "2|2|1|-|-|-|failed|no \"luck\"", "3|2|10|-|-|virtual|ok|-"));
  EXPECT_THAT(rows(mixed_rows(), {}, "SELECT seed, t_ps, Load_2 FROM by_run WHERE seed = 10 AND x = '1KiB'"),
              ElementsAre("10|13|-"));
}

TEST_F(SweepDatabase, HasNoSuchTableOfMoreColumnsThanSqliteTakes) {
  const auto views = [this](size_t columns) {
    SweepResult wide{"t.yaml", Combinations::of({*axis_of("run.seed=1")}).value(), {{.state = RowState::kDone}}};
    for (size_t i = 0; i < columns; ++i) wide.rows[0].values.push_back({std::to_string(i), "", 1});
    return rows(wide, {}, "SELECT count(*), (SELECT count(*) FROM columns) FROM sqlite_schema WHERE type = 'view'");
  };
  EXPECT_THAT(views(kWidest - 1), ElementsAre("1|" + std::to_string(kWidest - 1)));
  EXPECT_THAT(views(kWidest), ElementsAre("0|" + std::to_string(kWidest)));
}

// The numbers are those of spread_of(), which sweep_table_test.cpp holds against tables.
TEST_F(SweepDatabase, HasMeansOverARepeatedPath) {
  EXPECT_THAT(rows(mixed_rows(), {}, "SELECT * FROM sweep"), ElementsAre("t.yaml|-"));
  EXPECT_THAT(rows(mixed_rows(), 1, "SELECT * FROM sweep"), ElementsAre("t.yaml|run.seed"));
  EXPECT_THAT(rows(mixed_rows(), 1,
                   "SELECT text, name, n, mean, least, most, round(deviation, 6) FROM spreads "
                   "JOIN spread_settings USING(spread_id) JOIN columns USING(column_id) WHERE name = 't_ps'"),
              ElementsAre("1KiB|t_ps|2|11.5|10|13|2.12132", "2|t_ps|0|-|-|-|-"));
}

TEST_F(SweepDatabase, SaysWhyItCannotBeMade) {
  const auto made = make_sweep_database("/dev/null", mixed_rows(), {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error(), testing::HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace softspine::tools
