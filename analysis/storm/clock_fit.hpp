// SPDX-License-Identifier: Apache-2.0
// How one capture's clock differs from another's, from the packets that both saw.
//
// The difference is taken for a line, skew + drift × time, with a drift of at most 200 ppm either way (two crystals of
// 100 ppm). A packet that the other capture saw first, d before this one, shows clock difference + d, with d unknown
// but not negative. So each such packet is an upper limit, each that this one saw first a lower limit, and the
// line lies between the lowest of the upper and the highest of the lower limits. The packets that waited least give the
// tightest limits; how long others waited does not matter:
//
//   width(drift) = min(upper_i − drift × t_i) − max(lower_j − drift × t_j),   a line fits where this is not negative
//
// At the begin and at the end of the time that the fit is for, the lines that fit lie between a lowest and a highest
// value. The line through both middles is taken: it is never farther from the true one than half of the larger width,
// the uncertainty, and no other line promises less. A drift is seen in a long time alone: 10 ppm are 0.1 us in 10 ms,
// less than packets wait. Where lines of all drifts fit, the drift is unknown, and the line has next to none.
//
// The place with the larger TTL saw a packet first; with equal ones at both ends of a link, the end that it left. A
// link holds a packet for no longer than 5 us (1 km), so such a packet gives both limits. Where a capture does not show
// which way frames went, these limits count on either side, and only if packets went both ways. Time stamps may be cut
// to microseconds: each limit is wider by that.
//
// Robust: one limit in fifty may be wrong (a counter in a header has wrapped, a packet was sent again). If more are,
// the clock has no line (it was set, or does not run evenly), and nothing is fitted.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "analysis/storm/line_search.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::analysis::storm {

// For differences of times that anybody may have written into a capture.
__extension__ using Int128 = __int128;

// One packet's limit of "this clock − the other clock", at the time `at` of this clock.
struct ClockLimit {
  dataplane::Instant at;
  dataplane::Duration difference;
};

struct ClockLimits {
  std::vector<ClockLimit> upper;
  std::vector<ClockLimit> lower;
  uint64_t packets = 0;  // that both saw, and that give a limit
};

struct ClockFit {
  dataplane::Instant at;            // of this clock: where `skew` holds
  dataplane::Duration skew;         // this clock − the other
  double drift = 0;                 // by how much this clock runs faster: 1e-6 is 1 ppm
  dataplane::Duration uncertainty;  // of skew + drift × time, at most, from `from` to `to`
  double drift_uncertainty = 0;
  uint64_t packets = 0;
  uint64_t contradicting = 0;  // limits

  // The other clock's time when this one shows `at`.
  dataplane::Instant other(dataplane::Instant shown) const;
};

// `from`, `to`: the time of this clock in which the fit will be used. The error is a sentence's end: "they share no
// packet".
std::expected<ClockFit, std::string> fit_clock(const ClockLimits& limits, dataplane::Instant from,
                                               dataplane::Instant to);

}  // namespace softspine::analysis::storm
