// SPDX-License-Identifier: Apache-2.0
// Collects what is wrong while a document is read: everything, each thing once, in the file's order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/config/document.hpp"
#include "control/config/error.hpp"
#include "control/config/words.hpp"

namespace softspine::control {

class Reader {
 public:
  explicit Reader(std::string file = "") : file_(std::move(file)) {}

  // Returns false, so that a read can end in `return reader.wrong(…)`.
  bool wrong(Value at, std::string message);
  bool wrong_type(Value at, std::string_view expected);  // "expected …, found a map"

  std::string guess(std::string_view word, const std::vector<std::string_view>& known) {
    return guesser_.guess(word, known);
  }

  Errors& errors() { return errors_; }
  // By line and column; a mistake met several times (through an alias) is named once.
  Errors finish();

 private:
  std::string file_;  // for what stands nowhere in it
  Errors errors_;
  Guesser guesser_;
};

}  // namespace softspine::control
