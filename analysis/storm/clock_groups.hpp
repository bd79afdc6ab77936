// SPDX-License-Identifier: Apache-2.0
// Captures of several machines on one time line: which of them can be put there, and how each clock differs.
//
// Clocks are compared two by two (clock_fit.hpp). The first capture's clock is the time; others are reached from it
// over those pairs whose uncertainties add up to the least. A capture that is not reached within kMaxUncertainty (a
// tenth of the shortest storm, 250 us at 400G) is in another group, whose time line is its own: nothing in it is before
// or after anything in this one.
//
// A step of a clock (clock_steps.hpp) is a silence if packets that both captures saw lie on the pair's line before and
// behind it. Else the clock may have been set there, and the pair is not compared: a fit does not hold for a time from
// which no packet is known.
#pragma once

#include <string>
#include <vector>

#include "analysis/storm/clock_fit.hpp"
#include "analysis/storm/clock_steps.hpp"
#include "analysis/storm/sighting_log.hpp"

namespace softspine::analysis::storm {

inline constexpr dataplane::Duration kMaxUncertainty = dataplane::Duration::us(25);

struct CaptureClock {
  const SightingLog* seen = nullptr;
  dataplane::Instant first;
  dataplane::Instant last;
  std::vector<ClockStep> steps = {};
};

// t → begin + (t − at) × rate
struct ClockMap {
  dataplane::Instant at;
  dataplane::Instant begin;
  double rate = 1;
  dataplane::Instant operator()(dataplane::Instant t) const;
};

struct AlignedCapture {
  uint32_t capture = 0;
  ClockMap map;                     // onto the time of the group's first
  dataplane::Duration uncertainty;  // while the capture lasts
  double drift_uncertainty = 0;
  uint32_t by = 0;  // the capture that it was compared with; the group's first: itself
  ClockFit fit;     // with that one
};

struct CaptureGroup {
  std::vector<AlignedCapture> captures;  // the first: whose clock is the time
};

struct CaptureGroups {
  std::vector<CaptureGroup> groups;
  std::vector<std::string> why_apart;  // by capture: of those that begin a group after the first, why
};

CaptureGroups group_captures(const std::vector<CaptureClock>& captures);
// For clocks that agree within `uncertainty`, by the user's word.
CaptureGroups one_group(size_t captures, dataplane::Duration uncertainty);

}  // namespace softspine::analysis::storm
