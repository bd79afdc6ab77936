// SPDX-License-Identifier: Apache-2.0
// Collects what is wrong while a document is read: everything, each thing once, in the file's order.
//
// A word is wrong once: after the first complaint about it, what follows from it (or another alias of it) is no news.
// A map or a list can lack several things, and says each once.
// Several documents can be read into one list of mistakes: a testbed, and the config_db.json files that it names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "control/document/document.hpp"
#include "control/document/error_log.hpp"
#include "control/document/words.hpp"

namespace softspine::control {

// Where a value stands; of one that stands nowhere, an empty place.
Place place_of(Value value);

class Reader {
 public:
  explicit Reader(std::string file = "") : file_(std::move(file)) {}

  // Reads a text, which is kept: its values are good as long as this. Where there is nothing to be read (it has been
  // complained about) the value stands nowhere.
  Value open(std::string_view text, std::string_view file, Dialect dialect = Dialect::kTestbed);
  const std::string& file() const { return file_; }

  // Returns false, so that a read can end in `return reader.wrong(…)`.
  bool wrong(Value at, std::string message);
  bool wrong_type(Value at, std::string_view expected);  // "expected …, found a map"

  // What can't be meant, or has no effect, and is taken all the same.
  void warn(Value at, std::string message);
  Errors warnings();  // the list; there are none afterwards

  // What hangs on this value is not known: it has been complained about itself.
  bool is_wrong(Value at) const { return wrong_.contains(at.id()); }

  std::string guess(std::string_view word, const std::vector<std::string_view>& known) {
    return guesser_.guess(word, known);
  }

  ErrorLog& log() { return log_; }
  Errors finish() { return log_.finish(); }

 private:
  Error error(Value at, std::string message) const;
  bool is_news(Value at, std::string_view message);

  std::vector<std::unique_ptr<const Document>> documents_;
  std::string file_;  // for what stands nowhere in it
  ErrorLog log_;
  ErrorLog warnings_;
  Guesser guesser_;
  std::unordered_set<uint32_t> wrong_;  // ids of values
  std::unordered_set<uint64_t> said_;   // of maps, lists and what stands nowhere: id and message
};

}  // namespace softspine::control
