// SPDX-License-Identifier: Apache-2.0
// Texts of lines of words, as ns-3's programs read them, and what is wrong with one: each kind once, with how many
// lines have it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "control/document/error_log.hpp"

namespace softspine::control {

struct Field {
  std::string_view text;
  int line = 0;
  int column = 0;
};

// Lines and their fields; blank lines are passed over.
class FieldLines {
 public:
  explicit FieldLines(std::string_view text) : rest_(text) {}

  // The fields of the next line that has some; none at the end.
  std::vector<Field> next();
  int line() const { return line_; }

 private:
  void split(std::string_view line, std::vector<Field>& fields) const;

  std::string_view rest_;
  int line_ = 0;
};

class ErrorsByKind {
 public:
  explicit ErrorsByKind(std::string file) : file_(std::move(file)) {}

  // Only the first error of a kind is reported, with its place. Returns false.
  bool fail(std::string_view kind, const Field& at, std::string message);
  bool any() const { return !errors_.empty(); }
  void put_into(ErrorLog& log);  // and none are left

 private:
  struct Counted {
    Error error;
    uint64_t count = 0;
  };
  std::string file_;
  std::map<std::string, Counted, std::less<>> errors_;
};

}  // namespace softspine::control
