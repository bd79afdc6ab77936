// SPDX-License-Identifier: Apache-2.0
// Which places saw the same pause frames: a frame that was captured at both ends of its link, or by two mirrors, is in
// the capture twice. Two frames of one source are taken for one if they ask for the same and are at most kWithin apart:
// 1 km of fibre takes 5 us, and many captures count in whole microseconds. A place counts as another's copy if nine in
// ten of its frames were seen there, too; some frames are always lost.
// Bounds: of each source the kRecent last frames are compared, and kMaxPairs places with each other. What exceeds
// these is no copy, and counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dataplane/units/time.hpp"
#include "tools/storm/pause_frame.hpp"

namespace softspine::tools::storm {

class CopyLog {
 public:
  static constexpr dataplane::Duration kWithin = dataplane::Duration::us(10);
  static constexpr size_t kRecent = 8;
  static constexpr size_t kMaxPairs = 1 << 18;

  void seen(uint32_t place, dataplane::Instant at, const PauseFrame& frame);
  bool is_copy(uint32_t place, uint32_t of) const;
  // Frames that were seen there.
  uint64_t frames(uint32_t place) const { return place < frames_.size() ? frames_[place] : 0; }

 private:
  struct Seen {
    uint32_t place;
    dataplane::Instant at;
    PauseFrame frame;
  };
  struct Recent {
    std::vector<Seen> frames;
    size_t next = 0;  // the oldest, once there are kRecent
  };
  static uint64_t key_of(uint32_t a, uint32_t b) { return uint64_t{std::min(a, b)} << 32 | std::max(a, b); }
  void note_pair(uint32_t a, uint32_t b);

  std::unordered_map<uint64_t, Recent> recent_;     // by source MAC
  std::unordered_map<uint64_t, uint64_t> matches_;  // by pair of places
  std::vector<uint64_t> frames_;                    // by place
};

}  // namespace softspine::tools::storm
