// SPDX-License-Identifier: Apache-2.0
// The pause that one sender asks of one class, by its frames: from XOFF to XON, or until the timer runs out.
//
//   XOFF with q quanta at t:  paused until t + q × 512 / rate; a later frame sets the timer anew, longer or shorter
//   XON at t:                 over at t
// An XOFF that arrives after the timer has run out begins another pause.
// Without a rate it is not known when a timer runs out. A pause then lasts from its XOFF to its XON, or to its last
// refresh if no XON came, and frames that are further apart than 0xFFFF quanta at 1 Gb/s (33.6 ms) are two pauses:
// slower links have no PFC.
#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::analysis::storm {

enum class PauseEnd : uint8_t {
  kXon,     // the sender ended it by XON
  kLapsed,  // no refresh came in time
  kOpen,    // it had not ended when the capture did
};

struct PauseSpan {
  dataplane::Instant begin;
  dataplane::Instant end;
  uint32_t frames = 0;  // the first XOFF and its refreshes
  PauseEnd how = PauseEnd::kOpen;
  // Several short ones that were put together, as one entry (pause_list.hpp). All ended in the same way.
  bool is_short = false;
  uint32_t pauses = 1;
  dataplane::Duration off;      // between them
  dataplane::Duration longest;  // of them
  dataplane::Instant longest_at;

  dataplane::Duration paused() const { return end - begin - off; }
  dataplane::Duration longest_one() const { return pauses == 1 ? end - begin : longest; }
  dataplane::Instant longest_from() const { return pauses == 1 ? begin : longest_at; }
  // The next one, behind it.
  void take_in(const PauseSpan& next) {
    const bool is_longer = next.longest_one() > longest_one();
    longest_at = is_longer ? next.longest_from() : longest_from();
    longest = is_longer ? next.longest_one() : longest_one();
    off += next.begin - end + next.off;
    end = next.end;
    frames += next.frames;
    pauses += next.pauses;
  }
  // The time of it that was paused between `from` and its end, as if its pauses were evenly spread.
  dataplane::Duration paused_since(dataplane::Instant from) const {
    if (from <= begin) return paused();
    if (from >= end) return {};
    if (pauses == 1) return end - from;
    const auto all = static_cast<double>((end - begin).count_ps());
    return dataplane::Duration::ps(static_cast<int64_t>(static_cast<double>(paused().count_ps()) / all *
                                                        static_cast<double>((end - from).count_ps())));
  }
};

class PauseTimer {
 public:
  explicit PauseTimer(dataplane::Rate rate) : rate_(rate) {}

  // Takes a frame. Returns a pause that ended by this frame or before it.
  std::optional<PauseSpan> take(dataplane::Instant at, uint16_t quanta) {
    std::optional<PauseSpan> ended = at >= until_ ? lapse() : std::nullopt;
    if (quanta == 0) {
      if (paused_) ended = close(at, PauseEnd::kXon);
      return ended;
    }
    if (!paused_) span_ = {.begin = at};
    paused_ = true;
    ++span_.frames;
    last_ = at;
    until_ = at + timer_rate().time_of_bytes(uint64_t{quanta} * kQuantumBytes);
    return ended;
  }

  // Ends what is still paused when the capture ends.
  std::optional<PauseSpan> finish(dataplane::Instant at) {
    if (!paused_) return std::nullopt;
    if (until_ <= at) return lapse();
    return close(rate_.is_zero() ? last_ : at, PauseEnd::kOpen);
  }

 private:
  static constexpr uint64_t kQuantumBytes = 512 / 8;

  dataplane::Rate timer_rate() const { return rate_.is_zero() ? dataplane::Rate::gbps(1) : rate_; }
  std::optional<PauseSpan> lapse() {
    if (!paused_) return std::nullopt;
    return close(rate_.is_zero() ? last_ : until_, PauseEnd::kLapsed);
  }
  PauseSpan close(dataplane::Instant end, PauseEnd how) {
    paused_ = false;
    span_.end = end;
    span_.how = how;
    return span_;
  }

  dataplane::Rate rate_;
  bool paused_ = false;
  PauseSpan span_;
  dataplane::Instant last_;
  dataplane::Instant until_;
};

}  // namespace softspine::analysis::storm
