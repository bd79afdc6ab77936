// SPDX-License-Identifier: Apache-2.0
// The time line of a log's pauses cut into stretches, each of which is looked at once, in its middle.
//
// Exact where the time line has at most kMaxMoments changes (a pause begins or ends): no pause begins or ends inside a
// stretch. Else the time line is sampled: as many stretches of equal length, or fewer if so many pauses are on at once
// that looking at them would be more than kMaxWork.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/storm/pause_log.hpp"

namespace softspine::analysis::storm {

inline constexpr size_t kMaxMoments = 20'000;
inline constexpr size_t kLeastMoments = 100;
inline constexpr size_t kMaxWork = 5'000'000;  // pauses that are looked at, over all moments

struct Stretch {
  dataplane::Instant begin;
  dataplane::Instant end;
  dataplane::Duration length() const { return end - begin; }
  dataplane::Instant middle() const { return begin + length() / 2; }
};

struct Stretches {
  std::vector<Stretch> stretches;  // in order, without gaps
  bool is_sampled = false;
};

// `selected`: indices into log.pauses, by begin.
Stretches stretches_of(const PauseLog& log, const std::vector<uint32_t>& selected);

}  // namespace softspine::analysis::storm
