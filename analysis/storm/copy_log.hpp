// SPDX-License-Identifier: Apache-2.0
// Which places saw the same pause frames: a frame that was captured at both ends of its link, or by two mirrors, is in
// the capture twice. Two frames of one source are taken for one if they ask for the same and are at most kWithin apart:
// 1 km of fibre takes 5 us, and many captures count in whole microseconds. A place counts as another's copy if nine in
// ten of its frames were seen there, too; some frames are always lost.
// A switch that sends from one address at all of its ports asks for the same at several of them at nearly the same
// time: of those that saw the same frames, the two ends of a link are the least time apart. Bounds: of each source the
// kRecent last frames are compared (kFewRecent where there are more than kMaxSources), and kMaxPairs places with each
// other. A frame beyond these is no copy, and counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/storm/pause_frame.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::analysis::storm {

class CopyLog {
 public:
  static constexpr dataplane::Duration kWithin = dataplane::Duration::us(10);
  static constexpr size_t kRecent = 64;
  static constexpr size_t kFewRecent = 8;
  static constexpr size_t kMaxSources = 4'096;
  static constexpr size_t kMaxPairs = 1 << 18;

  void seen(uint32_t place, dataplane::Instant at, const PauseFrame& frame);
  bool is_copy(uint32_t place, uint32_t of) const;
  // How far apart the same frames were seen at both, on average. No value: fewer than nine in ten of the place with
  // fewer of them.
  std::optional<dataplane::Duration> apart(uint32_t a, uint32_t b) const;
  // Pairs of places that saw a frame both, in no order.
  template <typename Visit>
  void for_each_pair(Visit visit) const {
    for (const auto& [key, matches] : matches_) visit(static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key));
  }
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
    size_t next = 0;  // the oldest, once there are as many as are compared
  };
  struct Matches {
    uint64_t frames = 0;
    dataplane::Duration apart;  // of all of them
  };
  static uint64_t key_of(uint32_t a, uint32_t b) { return uint64_t{std::min(a, b)} << 32 | std::max(a, b); }
  void note_pair(uint32_t a, uint32_t b, dataplane::Duration apart);

  std::unordered_map<uint64_t, Recent> recent_;    // by source MAC
  std::unordered_map<uint64_t, Matches> matches_;  // by pair of places
  std::vector<uint64_t> frames_;                   // by place
};

}  // namespace softspine::analysis::storm
