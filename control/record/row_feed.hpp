// SPDX-License-Identifier: Apache-2.0
// Rows of samples on their way into a table: an SQLite virtual table over memory, so that one statement takes them all
// in. A statement for each row, with its values bound one by one, takes two and a half times as long.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "control/record/database.hpp"
#include "control/record/sink.hpp"

namespace softspine::control {

// Its cells are the next `cells` of the table's, ascending by column; a column without a cell is null.
struct RecordedRow {
  int64_t t_ps = 0;
  uint32_t place = 0;  // port, pool or flow
  uint32_t number = 0;
  uint32_t cells = 0;
};
struct RecordedRows {
  std::vector<RecordedRow> rows;
  std::vector<SeriesCell> cells;
  uint64_t used = 0;  // bit n: column n has cells

  void add(uint32_t column, uint64_t value) {
    cells.push_back({column, value});
    used |= uint64_t{1} << column;
  }
  // Cells of columns that begin with number `first`.
  void add(std::span<const SeriesCell> more, uint32_t first) {
    const size_t before = cells.size();
    cells.insert(cells.end(), more.begin(), more.end());
    for (SeriesCell& cell : std::span{cells}.subspan(before)) {
      cell.column -= first;
      used |= uint64_t{1} << cell.column;
    }
  }
};

class RowFeed {
 public:
  static constexpr uint32_t kMaxColumns = 64;

  // Rows are selected from temp.feed: t_ps, place, number, c0, c1, … up to kMaxColumns.
  explicit RowFeed(Database& database);
  RowFeed(const RowFeed&) = delete;
  RowFeed& operator=(const RowFeed&) = delete;

  // Runs an INSERT … SELECT over these rows.
  void insert(Statement& statement, const RecordedRows& rows) {
    current_ = &rows;
    statement.done();
  }
  const RecordedRows& current() const { return *current_; }

 private:
  const RecordedRows* current_ = nullptr;
};

// INSERT INTO table SELECT … FROM temp.feed, with null for columns that are not used: most have no cell in a batch, and
// each that is asked for costs a row its time.
struct FeedTarget {
  std::string table;
  bool has_number = false;
  size_t columns = 0;  // behind t_ps, place and number
};
std::string feed_insert(const FeedTarget& into, uint64_t used);

}  // namespace softspine::control
