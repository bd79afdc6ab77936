// SPDX-License-Identifier: Apache-2.0
#include "control/record/database.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace softspine::control {

namespace {

std::string words_of(sqlite3* handle, int status) {
  const int of_system = handle == nullptr ? 0 : sqlite3_system_errno(handle);
  const bool has_reason = status == SQLITE_CANTOPEN || (status & 0xff) == SQLITE_IOERR;
  if (has_reason && of_system != 0) return std::strerror(of_system);
  return handle == nullptr ? sqlite3_errstr(status) : sqlite3_errmsg(handle);
}

std::expected<sqlite3*, std::string> opened(const std::string& path, int flags) {
  sqlite3* handle = nullptr;
  const int status = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (status == SQLITE_OK) return handle;
  std::string why = words_of(handle, status);
  sqlite3_close(handle);
  return std::unexpected(std::move(why));
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close(handle);
}

std::expected<Database, std::string> Database::create(const std::string& path) {
  std::error_code none;
  const auto type = std::filesystem::status(path, none).type();
  if (type != std::filesystem::file_type::not_found && type != std::filesystem::file_type::regular) {
    return std::unexpected("not a regular file: a database is written in places all over it");
  }
  // A journal of an earlier file would be rolled back into the new one.
  for (const char* ending : {"", "-journal", "-wal"}) std::filesystem::remove(path + ending, none);
  const auto handle = opened(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!handle) return std::unexpected(handle.error());
  Database out{*handle};
  // Exclusive: a reader that holds the file would stop the writer. Not synchronous: a process that is killed loses
  // nothing that was committed, since the kernel has it.
  out.run(
      "PRAGMA page_size = 16384; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = TRUNCATE;"
      "PRAGMA synchronous = OFF; PRAGMA cache_size = -8192");
  if (!out.is_fine()) return std::unexpected(out.error());
  return out;
}

std::expected<Database, std::string> Database::read(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return std::unexpected("there is no such file");
  const auto handle = opened(path, SQLITE_OPEN_READWRITE);  // which rolls back what a killed run has left
  const auto readable = handle ? handle : opened(path, SQLITE_OPEN_READONLY);
  if (!readable) return std::unexpected(readable.error());
  Database out{*readable};
  out.run("PRAGMA query_only = ON; SELECT count(*) FROM sqlite_schema");
  if (!out.is_fine()) return std::unexpected(out.error());
  return out;
}

void Database::run(const std::string& sql) {
  if (!is_fine()) return;
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void Database::roll_back() {
  if (sqlite3_get_autocommit(handle_.get()) == 0) {
    sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void Database::fail() {
  if (error_.empty()) error_ = words_of(handle_.get(), sqlite3_extended_errcode(handle_.get()));
}

Statement::Statement(Database& database, const std::string& sql) : database_(database) {
  if (!database.is_fine()) return;
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &made, nullptr) != SQLITE_OK) database.fail();
  statement_.reset(made);
}

void Statement::Finish::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement& Statement::add(int64_t value) {
  if (statement_) sqlite3_bind_int64(statement_.get(), ++parameter_, value);
  return *this;
}

Statement& Statement::add(std::string_view text) {
  if (statement_) {
    sqlite3_bind_text64(statement_.get(), ++parameter_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  return *this;
}

Statement& Statement::add_null() {
  ++parameter_;
  return *this;
}

void Statement::done() {
  parameter_ = 0;
  while (next()) {
  }
  if (!statement_) return;
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

bool Statement::next() {
  if (!statement_ || !database_.is_fine()) return false;
  const int status = sqlite3_step(statement_.get());
  if (status != SQLITE_ROW && status != SQLITE_DONE) database_.fail();
  return status == SQLITE_ROW;
}

int Statement::columns() const {
  return sqlite3_column_count(statement_.get());
}
bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}
int64_t Statement::number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}
std::string Statement::text(int column) const {
  const unsigned char* const text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

}  // namespace softspine::control
