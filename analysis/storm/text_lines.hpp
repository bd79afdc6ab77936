// SPDX-License-Identifier: Apache-2.0
// The lines of a text that was named on the command line. Whatever it is, reading ends: a line has at most kMaxLine
// bytes, the text at most kMaxBytes (a device or a pipe may have no end).
#pragma once

#include <cstdint>
#include <expected>
#include <fstream>
#include <string>

namespace softspine::analysis::storm {

class TextLines {
 public:
  static constexpr size_t kMaxLine = 1 << 16;
  static constexpr uint64_t kMaxBytes = uint64_t{4} << 30;

  // `what` it is to be, for the error: "a list".
  static std::expected<TextLines, std::string> open(const std::string& path, const std::string& what,
                                                    uint64_t most_bytes = kMaxBytes);

  // False: the text has ended, or there is an error.
  bool next(std::string& line);
  int number() const { return number_; }   // of the line that was read last
  bool is_cut() const { return is_cut_; }  // it has no end of line
  // A sentence with the path; empty: none.
  const std::string& error() const { return error_; }

 private:
  TextLines(std::string path, std::ifstream file, uint64_t left)
      : path_(std::move(path)), file_(std::move(file)), left_(left) {}
  bool fail(std::string error);

  std::string path_;
  std::ifstream file_;
  uint64_t left_;
  int number_ = 0;
  bool is_cut_ = false;
  std::string error_;
};

}  // namespace softspine::analysis::storm
