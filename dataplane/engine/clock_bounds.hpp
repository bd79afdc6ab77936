// SPDX-License-Identifier: Apache-2.0
// How far another rank's clock is ahead of ours, from the lots that travel between the two (rank_meeting.hpp).
//
//   a lot of theirs   sent when their clock showed `sent`, here when ours showed `came`    ahead ≥ sent − came
//   a lot of ours     sent when our clock showed `sent`, there when theirs showed `came`   ahead ≤ came − sent
//
// A lot that has waited bounds little, and the tightest bounds of a span hold for all of it: NTP's clock filter (RFC
// 5905, section 10). But one rank may wait for the other all the time, and then one of the bounds is never tight. The
// least distance that both bounds ever had is what the ways there and back take; half of it is one way:
//
//   ahead = what it was, moved into [lower + least distance / 2, upper − least distance / 2]
//
// So a bound that is tight moves it, and a loose one leaves it alone. Errors: half of the difference between the ways
// there and back; the drift of a span; half of what one rank is always late. All instants are those of the two clocks;
// there is no other time here.
#pragma once

#include <algorithm>

#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class ClockBounds {
 public:
  // `span`: by our clock. Short, since clocks drift; long enough for a lot that has not waited.
  explicit ClockBounds(Duration span) : span_(span) {}

  // Of the first span.
  void begin(Instant now) noexcept { began_ = now; }
  void see_theirs(Instant sent, Instant came) noexcept { lower_ = std::max(lower_, sent - came); }
  void see_ours(Instant sent, Instant came) noexcept { upper_ = std::min(upper_, came - sent); }
  // Our clock shows `now`. True if a span has ended, and ahead() is of now.
  bool close_span(Instant now) noexcept;
  // At once, whatever the span.
  void close(Instant now) noexcept;

  Duration ahead() const { return ahead_; }
  // What somebody is wrong by, at `now`, who takes their clock to be `ahead` of ours: at most. The bounds of the last
  // span that had both hold, and since it began the clocks may have drifted. Zero before the first such span.
  Duration error_of(Duration ahead, Instant now) const noexcept;

 private:
  // Of the time that passes: two clocks of 100 parts in a million each.
  static constexpr int64_t kDriftPart = 5'000;
  static constexpr Duration kNoLower = Duration::ps(-(int64_t{1} << 62));
  static constexpr Duration kNoUpper = Duration::ps(int64_t{1} << 62);

  Duration span_;
  Instant began_;
  Duration lower_ = kNoLower;
  Duration upper_ = kNoUpper;
  Duration least_ = kNoUpper;  // distance of the two
  Duration held_lower_;        // of the last span that had both
  Duration held_upper_;
  Instant held_since_;
  Duration ahead_;
  bool is_known_ = false;
};

}  // namespace softspine::dataplane
