// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/pause_list.hpp"

#include <algorithm>
#include <tuple>

namespace softspine::analysis::storm {

using dataplane::Duration;

namespace {

constexpr Duration kFirstStretch = Duration::ms(1);
constexpr Duration kLongestStretch = Duration::s(24 * 3600);

int64_t stretch_of(const PauseSpan& span, Duration length) {
  return span.begin.count_ps() / length.count_ps();
}

}  // namespace

bool PauseList::add(const RecordedPause& pause, Duration short_below) {
  RecordedPause it = pause;
  it.span.is_short = it.span.end - it.span.begin < short_below && it.span.how != PauseEnd::kOpen;
  const size_t before = pauses_.size();
  if (before >= kMaxPauses) return false;
  put(pauses_, latest_, it);
  if (pauses_.size() > before && pauses_.size() >= limit_) fold();
  return true;
}

void PauseList::put(std::vector<RecordedPause>& list, Latest& latest, const RecordedPause& pause) const {
  if (latest.size() <= pause.sender) {
    std::array<uint32_t, kPauseClasses> none;
    none.fill(kNone);
    latest.resize(pause.sender + 1, none);
  }
  uint32_t& last = latest[pause.sender][pause.priority];
  if (last != kNone && belongs_to(list[last].span, pause.span)) {
    list[last].span.take_in(pause.span);
    return;
  }
  last = static_cast<uint32_t>(list.size());
  list.push_back(pause);
}

bool PauseList::belongs_to(const PauseSpan& last, const PauseSpan& next) const {
  if (stretch_ == Duration{} || !last.is_short || !next.is_short || last.how != next.how || next.begin < last.end) {
    return false;
  }
  if (stretch_of(last, stretch_) != stretch_of(next, stretch_)) return false;
  return next.how == PauseEnd::kXon || last.paused() >= (next.begin - last.begin) / kLapsingParts;
}

// Until half of the room is free again, or nothing can be put together any more.
void PauseList::fold() {
  while (pauses_.size() > limit_ / 2 && stretch_ < kLongestStretch) {
    stretch_ = stretch_ == Duration{} ? kFirstStretch : stretch_ * 2;
    std::vector<RecordedPause> list;
    Latest latest;
    for (const RecordedPause& it : pauses_) put(list, latest, it);
    pauses_ = std::move(list);
    latest_ = std::move(latest);
  }
  limit_ = std::max(kMaxWhole, pauses_.size() * 2);
}

void PauseList::sort() {
  std::ranges::stable_sort(pauses_, {},
                           [](const RecordedPause& p) { return std::tuple{p.span.begin, p.sender, p.priority}; });
  latest_.clear();
}

}  // namespace softspine::analysis::storm
