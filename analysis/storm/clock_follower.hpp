// SPDX-License-Identifier: Apache-2.0
// The frames of a capture whose clock may have been set (clock_steps.hpp): hands on each but those whose time is wrong.
// The next frame shows whether a time is wrong, so a frame far from the one before it is held until then.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "analysis/storm/capture_reader.hpp"
#include "analysis/storm/clock_steps.hpp"

namespace softspine::analysis::storm {

class ClockFollower {
 public:
  // use(frame), its time on the time line: this one, the one held, both or none.
  template <typename Use>
  void take(const CapturedFrame& frame, Use&& use) {
    ++taken_;
    if (held_) compare_with_held(frame.at, use);
    if (clock_.is_far(frame.at)) {
      held_ = Held{.frame = frame, .bytes = {frame.bytes.begin(), frame.bytes.end()}, .number = taken_};
    } else {
      place(frame, use);
    }
  }
  // Called after the last frame.
  template <typename Use>
  void finish(Use&& use) {
    if (held_) place_held(use);
  }

  std::vector<ClockStep> steps() const { return clock_.steps(); }
  // Numbers of the frames that were left out, from 1, in their order.
  const std::vector<uint64_t>& strays() const { return strays_; }

 private:
  struct Held {
    CapturedFrame frame;
    std::vector<uint8_t> bytes;
    uint64_t number = 0;
  };

  // If the next frame is near the one before it, its time is wrong; else it is the first one after a step.
  template <typename Use>
  void compare_with_held(dataplane::Instant at, Use& use) {
    if (!ClockSteps::is_near(at, clock_.previous())) return place_held(use);
    clock_.leave_out();
    strays_.push_back(held_->number);
    held_.reset();
  }
  template <typename Use>
  void place_held(Use& use) {
    const Held held = *std::exchange(held_, std::nullopt);
    CapturedFrame frame = held.frame;
    frame.bytes = held.bytes;
    place(frame, use);
  }
  template <typename Use>
  void place(CapturedFrame frame, Use& use) {
    frame.at = clock_.place(frame.at);
    use(frame);
  }

  ClockSteps clock_;
  std::optional<Held> held_;
  uint64_t taken_ = 0;
  std::vector<uint64_t> strays_;
};

}  // namespace softspine::analysis::storm
