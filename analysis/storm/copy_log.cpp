// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/copy_log.hpp"

namespace softspine::analysis::storm {

using dataplane::Instant;

namespace {

constexpr uint64_t kOfTen = 9;

dataplane::Duration between(Instant a, Instant b) {
  return std::max(a, b) - std::min(a, b);
}

}  // namespace

void CopyLog::seen(uint32_t place, Instant at, const PauseFrame& frame) {
  if (frames_.size() <= place) frames_.resize(place + 1);
  ++frames_[place];
  Recent& recent = recent_[frame.source];
  for (size_t i = 0; i < recent.frames.size(); ++i) {
    const Seen& other = recent.frames[i];
    if (other.place == place || between(other.at, at) > kWithin || other.frame != frame) continue;
    note_pair(place, other.place, between(other.at, at));
  }
  const Seen seen{.place = place, .at = at, .frame = frame};
  if (recent.frames.size() < (recent_.size() <= kMaxSources ? kRecent : kFewRecent)) {
    recent.frames.push_back(seen);
  } else {
    recent.frames[recent.next] = seen;
    recent.next = (recent.next + 1) % recent.frames.size();
  }
}

void CopyLog::note_pair(uint32_t a, uint32_t b, dataplane::Duration apart) {
  const uint64_t key = key_of(a, b);
  if (matches_.size() >= kMaxPairs && !matches_.contains(key)) return;
  ++matches_[key].frames;
  matches_[key].apart += apart;
}

bool CopyLog::is_copy(uint32_t place, uint32_t of) const {
  const auto found = matches_.find(key_of(place, of));
  return found != matches_.end() && found->second.frames * 10 >= frames(place) * kOfTen;
}

std::optional<dataplane::Duration> CopyLog::apart(uint32_t a, uint32_t b) const {
  if (!is_copy(frames(a) < frames(b) ? a : b, frames(a) < frames(b) ? b : a)) return std::nullopt;
  const Matches& found = matches_.at(key_of(a, b));
  return found.apart / static_cast<int64_t>(found.frames);
}

}  // namespace softspine::analysis::storm
