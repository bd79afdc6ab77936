// SPDX-License-Identifier: Apache-2.0
#include "tools/storm/copy_log.hpp"

namespace softspine::tools::storm {

using dataplane::Instant;

namespace {

constexpr uint64_t kOfTen = 9;

bool is_within(Instant a, Instant b) {
  return std::max(a, b) - std::min(a, b) <= CopyLog::kWithin;
}

}  // namespace

void CopyLog::seen(uint32_t place, Instant at, const PauseFrame& frame) {
  if (frames_.size() <= place) frames_.resize(place + 1);
  ++frames_[place];
  Recent& recent = recent_[frame.source];
  for (size_t i = 0; i < recent.frames.size(); ++i) {
    const Seen& other = recent.frames[i];
    if (other.place != place && is_within(other.at, at) && other.frame == frame) note_pair(place, other.place);
  }
  const Seen seen{.place = place, .at = at, .frame = frame};
  if (recent.frames.size() < kRecent) {
    recent.frames.push_back(seen);
  } else {
    recent.frames[recent.next] = seen;
    recent.next = (recent.next + 1) % kRecent;
  }
}

void CopyLog::note_pair(uint32_t a, uint32_t b) {
  const uint64_t key = key_of(a, b);
  if (matches_.size() < kMaxPairs || matches_.contains(key)) ++matches_[key];
}

bool CopyLog::is_copy(uint32_t place, uint32_t of) const {
  const auto found = matches_.find(key_of(place, of));
  return found != matches_.end() && found->second * 10 >= frames(place) * kOfTen;
}

}  // namespace softspine::tools::storm
