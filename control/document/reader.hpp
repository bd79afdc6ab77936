// SPDX-License-Identifier: Apache-2.0
// Reads documents, and collects everything that is wrong with them: each error once, in the file's order.
//
// A scalar has one error: after the first, errors that follow from it, or from another alias of it, are not reported. A
// map or a list can lack several things, and each of them is reported once.
// Several documents can be read into one list of errors: a testbed, and the config_db.json files that it names.
#pragma once

#include <expected>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "control/document/document.hpp"
#include "control/document/error_log.hpp"
#include "control/document/words.hpp"

namespace softspine::control {

// Kinds of ignored parts that are listed one by one.
inline constexpr size_t kMaxIgnoredParts = 1'000;

// The position of a value; an empty Place if it has none.
Place place_of(Value value);

class Reader {
 public:
  explicit Reader(std::string file = "") : file_(std::move(file)) {}

  // Parses a text and keeps its document, so that its values are valid as long as this Reader. If the text cannot be
  // parsed, which is then reported, the returned Value has no position.
  Value open(std::string_view text, std::string_view file, Dialect dialect = Dialect::kTestbed);
  const std::string& file() const { return file_; }

  // The text of a file that a document names; the error is a message without the path (text_file.hpp).
  std::expected<std::string, std::string> text_of(const std::string& path, size_t most = kMaxTextBytes);
  // A file that a document names, and that another reader reads.
  void add_input(const std::string& path);
  // The paths of both, each once; returns the list and empties it.
  std::vector<std::string> inputs() { return std::exchange(inputs_, {}); }

  // Returns false, so that a read can end in `return reader.fail(…)`.
  bool fail(Value at, std::string message);
  bool wrong_type(Value at, std::string_view expected);  // "expected …, found a map"

  // Reports what is probably a mistake, or has no effect, but is accepted all the same.
  void warn(Value at, std::string message);
  // The same for a file that is no Document, since another reader parses its lines.
  void warn(Error warning) { warnings_.add(std::move(warning)); }
  // Reports a key of another system's file that is not known, and not read; the same key in further rows is counted
  // with it. Beyond kMaxIgnoredParts, such keys are only counted.
  void unknown(Value key, const std::vector<std::string_view>& known);
  Errors warnings();  // returns the list and empties it

  // Counts `count` things that nothing reads; those of the same kind are one part. Beyond kMaxIgnoredParts, kinds are
  // counted together, without a name.
  void ignore(Value at, std::string table, std::string what, uint64_t count = 1);
  std::vector<IgnoredPart> ignored();  // by first occurrence; returns the list and empties it

  // An error of this value itself has been reported, so nothing can be said about what depends on it.
  bool is_invalid(Value at) const { return wrong_.contains(at.id()); }

  std::string guess(std::string_view word, const std::vector<std::string_view>& known) {
    return guesser_.guess(word, known);
  }

  ErrorLog& log() { return log_; }
  Errors finish() { return log_.finish(); }

 private:
  Error error(Value at, std::string message) const;
  bool is_new(Value at, std::string_view message);
  void finish_unknown();

  std::vector<std::unique_ptr<const Document>> documents_;
  std::string file_;  // for values without a position in it
  std::vector<std::string> inputs_;
  ErrorLog log_;
  ErrorLog warnings_;
  Guesser guesser_;
  std::unordered_set<uint32_t> wrong_;  // ids of values
  std::vector<IgnoredPart> ignored_;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> ignored_index_;  // by file, table and what
  std::vector<std::pair<Error, uint64_t>> unknown_;                                    // with how often
  std::map<std::tuple<std::string, std::string, std::string>, size_t> unknown_index_;  // likewise
  uint64_t unknown_left_out_ = 0;
  std::unordered_set<uint64_t> said_;  // errors of maps, lists and values without position: id and message
};

}  // namespace softspine::control
