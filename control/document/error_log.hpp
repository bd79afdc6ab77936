// SPDX-License-Identifier: Apache-2.0
// Collects what is wrong with a file while it is read.
//
// Errors come in any order and are listed in the file's. Up to kMaxErrors, which is more than anybody reads, all of
// them are listed; of a file with more, the first kMaxErrors by line, and then the number of the others. So memory is
// bounded, and a reader of the list knows whether it is complete.
#pragma once

#include <cstdint>

#include "control/document/error.hpp"

namespace softspine::control {

inline constexpr size_t kMaxErrors = 100'000;

class ErrorLog {
 public:
  void add(Error error);

  // How many there were so far.
  uint64_t count() const { return count_; }

  // The list; the log is empty afterwards.
  Errors finish();

 private:
  void cut();

  Errors errors_;        // up to 2 × kMaxErrors, then cut to the first kMaxErrors
  bool is_cut_ = false;  // from then on, errors after errors_[kMaxErrors - 1] are only counted
  uint64_t left_out_ = 0;
  uint64_t count_ = 0;
};

}  // namespace softspine::control
