// SPDX-License-Identifier: Apache-2.0
// Which packets one capture saw, and when, by that capture's own clock: what its clock is compared by with those of
// other captures.
//
// Bounded: a sample is kept, chosen by the packet's mark, so that all captures choose the same packets. While the log
// is full, it keeps one packet of twice as many as before: those whose mark ends in `level` zero bits.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/storm/capture_reader.hpp"
#include "analysis/storm/frame_mark.hpp"

namespace softspine::analysis::storm {

struct Sighting {
  FrameMark mark;
  Way way = Way::kUnknown;
  dataplane::Instant at;
};

class SightingLog {
 public:
  static constexpr size_t kMaxSightings = 1 << 16;

  void see(const CapturedFrame& frame, uint16_t link_type);
  void add(const Sighting& sighting);
  size_t size() const { return seen_.size(); }

  // The least level that its sightings are complete at.
  unsigned level() const { return level_; }
  // Sightings at that level or a higher one, by key; of one key in the order of `hops_left`, most first. A packet that
  // passed one place twice (sent again, or a counter in it has wrapped) is left out: nobody knows which one another
  // capture saw.
  std::vector<Sighting> at_level(unsigned level) const;

 private:
  static constexpr unsigned kMaxLevel = 40;

  static bool is_kept(uint64_t key, unsigned level) { return (key & ((uint64_t{1} << level) - 1)) == 0; }

  unsigned level_ = 0;
  std::vector<Sighting> seen_;
};

}  // namespace softspine::analysis::storm
