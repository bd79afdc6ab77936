// SPDX-License-Identifier: Apache-2.0
#include "control/document/error_log.hpp"

#include <algorithm>
#include <tuple>

namespace softspine::control {
namespace {

bool stands_before(const Error& a, const Error& b) {
  const auto place = [](const Error& e) { return std::tie(e.file, e.line, e.column, e.path, e.message); };
  return place(a) < place(b);
}

}  // namespace

void ErrorLog::add(Error error) {
  ++count_;
  if (is_cut_ && !stands_before(error, errors_[kMaxErrors - 1])) {
    ++left_out_;
    return;
  }
  errors_.push_back(std::move(error));
  if (errors_.size() >= 2 * kMaxErrors) cut();
}

void ErrorLog::cut() {
  std::ranges::sort(errors_, stands_before);
  left_out_ += errors_.size() - kMaxErrors;
  errors_.resize(kMaxErrors);
  is_cut_ = true;
}

Errors ErrorLog::finish() {
  if (errors_.size() > kMaxErrors) cut();
  std::ranges::sort(errors_, stands_before);
  if (left_out_ > 0) {
    const Error& last = errors_.back();
    errors_.push_back({last.file, "", 0, 0,
                       "and " + std::to_string(left_out_) + " more after line " + std::to_string(last.line) +
                           ": only the first " + std::to_string(kMaxErrors) + " are listed"});
  }
  Errors out = std::move(errors_);
  *this = {};
  return out;
}

}  // namespace softspine::control
