// SPDX-License-Identifier: Apache-2.0
#include "control/record/row_feed.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

namespace softspine::control {

namespace {

constexpr int kFirstCell = 3;  // columns before the cells

struct FeedTable : sqlite3_vtab {
  const RowFeed* feed = nullptr;
};
struct FeedCursor : sqlite3_vtab_cursor {
  const RecordedRow* row = nullptr;
  const RecordedRow* end = nullptr;
  const SeriesCell* cell = nullptr;   // the row's first
  const SeriesCell* asked = nullptr;  // the first that no column has been asked for yet
};

FeedCursor& cursor_of(sqlite3_vtab_cursor* cursor) {
  return static_cast<FeedCursor&>(*cursor);
}

int connect(sqlite3* handle, void* feed, int, const char* const*, sqlite3_vtab** out, char**) {
  std::string columns = "CREATE TABLE feed(t_ps, place, number";
  for (uint32_t i = 0; i < RowFeed::kMaxColumns; ++i) columns += fmt::format(", c{}", i);
  const int declared = sqlite3_declare_vtab(handle, (columns + ")").c_str());
  if (declared != SQLITE_OK) return declared;
  auto* const made = new FeedTable{};
  made->feed = static_cast<const RowFeed*>(feed);
  *out = made;
  return SQLITE_OK;
}
int disconnect(sqlite3_vtab* table) {
  delete static_cast<FeedTable*>(table);
  return SQLITE_OK;
}
int best_index(sqlite3_vtab*, sqlite3_index_info*) {
  return SQLITE_OK;  // the rows as they stand
}
int open_cursor(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  *out = new FeedCursor{};
  return SQLITE_OK;
}
int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete &cursor_of(cursor);
  return SQLITE_OK;
}
int filter(sqlite3_vtab_cursor* at, int, const char*, int, sqlite3_value**) {
  FeedCursor& cursor = cursor_of(at);
  const RecordedRows& rows = static_cast<FeedTable*>(at->pVtab)->feed->current();
  cursor.row = rows.rows.data();
  cursor.end = cursor.row + rows.rows.size();
  cursor.cell = cursor.asked = rows.cells.data();
  return SQLITE_OK;
}
int next_row(sqlite3_vtab_cursor* at) {
  FeedCursor& cursor = cursor_of(at);
  cursor.cell += cursor.row->cells;
  cursor.asked = cursor.cell;
  ++cursor.row;
  return SQLITE_OK;
}
int is_at_end(sqlite3_vtab_cursor* at) {
  return cursor_of(at).row == cursor_of(at).end ? 1 : 0;
}
int64_t key_of(const RecordedRow& row, int column) {
  return column == 0 ? row.t_ps : column == 1 ? row.place : row.number;
}

// SQLite asks for the columns of a row one after the other; a column that comes again, or earlier, is looked for anew.
int column_of(sqlite3_vtab_cursor* at, sqlite3_context* out, int column) {
  FeedCursor& cursor = cursor_of(at);
  if (column < kFirstCell) {
    sqlite3_result_int64(out, key_of(*cursor.row, column));
    return SQLITE_OK;
  }
  const auto wanted = static_cast<uint32_t>(column - kFirstCell);
  const SeriesCell* const end = cursor.cell + cursor.row->cells;
  if (cursor.asked != cursor.cell && wanted <= cursor.asked[-1].column) cursor.asked = cursor.cell;
  while (cursor.asked != end && cursor.asked->column < wanted) ++cursor.asked;
  if (cursor.asked != end && cursor.asked->column == wanted) {
    sqlite3_result_int64(out, static_cast<sqlite3_int64>(cursor.asked->value));
    ++cursor.asked;
  }
  return SQLITE_OK;
}
int row_number(sqlite3_vtab_cursor* at, sqlite3_int64* out) {
  *out = cursor_of(at).end - cursor_of(at).row;
  return SQLITE_OK;
}

constexpr sqlite3_module kModule{.iVersion = 0,
                                 .xCreate = connect,
                                 .xConnect = connect,
                                 .xBestIndex = best_index,
                                 .xDisconnect = disconnect,
                                 .xDestroy = disconnect,
                                 .xOpen = open_cursor,
                                 .xClose = close_cursor,
                                 .xFilter = filter,
                                 .xNext = next_row,
                                 .xEof = is_at_end,
                                 .xColumn = column_of,
                                 .xRowid = row_number};

}  // namespace

RowFeed::RowFeed(Database& database) {
  sqlite3_create_module(database.handle(), "feed", &kModule, this);
  database.run("CREATE VIRTUAL TABLE temp.feed USING feed");
}

// All columns are listed: SQLite copies the values once more if some are left out.
std::string feed_insert(const FeedTarget& into, uint64_t used) {
  std::string values = into.has_number ? "t_ps, place, number" : "t_ps, place";
  for (size_t i = 0; i < into.columns; ++i) values += (used >> i & 1) == 0 ? ", NULL" : fmt::format(", c{}", i);
  return fmt::format("INSERT INTO {} SELECT {} FROM temp.feed", into.table, values);
}

}  // namespace softspine::control
