// SPDX-License-Identifier: Apache-2.0
// An SQLite database, and its statements. Used from one thread at a time. The first error stays: nothing is done after
// it, and error() has SQLite's sentence for it.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace softspine::control {

class Database {
 public:
  // A new, empty file, which only we may open until we are done with it. The error is a sentence's end.
  static std::expected<Database, std::string> create(const std::string& path);
  // A file that is there, for reading.
  static std::expected<Database, std::string> read(const std::string& path);

  // Statements, separated by semicolons.
  void run(const std::string& sql);
  const std::string& error() const { return error_; }
  bool is_fine() const { return error_.empty(); }
  // Takes back what has not been committed, in spite of an error.
  void roll_back();
  // Others may open the file. Its statements must be gone.
  void close() { handle_.reset(); }
  sqlite3* handle() const { return handle_.get(); }

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  explicit Database(sqlite3* handle) : handle_(handle) {}
  void fail();

  std::unique_ptr<sqlite3, Close> handle_;
  std::string error_;
};

// A prepared statement of a database, which must outlive it.
class Statement {
 public:
  Statement(Database& database, const std::string& sql);

  // In the order of its parameters; a value that is not given is null.
  Statement& add(int64_t value);
  Statement& add(uint64_t value) { return add(static_cast<int64_t>(value)); }
  Statement& add(uint32_t value) { return add(static_cast<int64_t>(value)); }
  Statement& add(std::string_view text);
  Statement& add(const std::string& text) { return add(std::string_view{text}); }
  Statement& add(const char* text) { return add(std::string_view{text}); }
  Statement& add_null();
  // Runs it whole, and makes it ready for the next values.
  void done();

  // Of a query: whether there is a next row; then its columns.
  bool next();
  int columns() const;
  bool is_null(int column) const;
  int64_t number(int column) const;
  double real(int column) const;
  std::string text(int column) const;

 private:
  struct Finish {
    void operator()(sqlite3_stmt* statement) const;
  };
  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finish> statement_;
  int parameter_ = 0;
};

}  // namespace softspine::control
