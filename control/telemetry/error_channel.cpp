// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/error_channel.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace softspine::control {

using dataplane::Instant;

namespace {

constexpr const char* kFurtherWho = "softspine";
constexpr const char* kFurtherWhat = "further errors, only counted";

}  // namespace

bool is_listed_before(const RunError& a, const RunError& b) {
  return std::tie(a.first, a.who, a.what) < std::tie(b.first, b.who, b.what);
}

void ErrorChannel::report(std::string who, std::string what) {
  report(std::move(who), std::move(what), now_());
}

void ErrorChannel::report(std::string who, std::string what, Instant at) {
  const std::lock_guard guard{lock_};
  const auto find = [&] {
    return std::ranges::find_if(kept_, [&](const RunError& each) { return each.who == who && each.what == what; });
  };
  auto same = find();
  if (same == kept_.end() && kept_.size() >= kKeptLimit) {
    who = kFurtherWho;
    what = kFurtherWhat;
    same = find();
  }
  if (same != kept_.end()) {
    same->first = std::min(same->first, at);
    same->last = std::max(same->last, at);
    ++same->count;
    return;
  }
  kept_.push_back({.who = std::move(who), .what = std::move(what), .first = at, .last = at});
  more_.notify_all();
}

bool ErrorChannel::empty() const {
  const std::lock_guard guard{lock_};
  return kept_.empty();
}

std::vector<RunError> ErrorChannel::all() const {
  std::vector<RunError> out;
  {
    const std::lock_guard guard{lock_};
    out = kept_;
  }
  std::ranges::sort(out, is_listed_before);
  return out;
}

std::vector<RunError> ErrorChannel::await_more(size_t seen, const std::stop_token& stop) {
  std::unique_lock lock{lock_};
  more_.wait(lock, stop, [&] { return kept_.size() > seen; });
  return {kept_.begin() + static_cast<ptrdiff_t>(std::min(seen, kept_.size())), kept_.end()};
}

}  // namespace softspine::control
