// SPDX-License-Identifier: Apache-2.0
// The scheduler of one port, without its strict queues: DWRR among the queues that share the port by weight, and the
// shapers of its queues and of the port. (The mask of strict queues is in EgressPort, since it is read for every
// packet.)
//
//   hold    the queues that may not send, because their shaper or the port's is closed
//   opens   when the first of the queues that the last hold() returned may send again, by the shapers alone
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "dataplane/egress/dwrr_scheduler.hpp"
#include "dataplane/egress/qos_plan.hpp"
#include "dataplane/egress/shaper.hpp"

namespace softspine::dataplane {

class PortScheduler {
 public:
  void plan(const PortQosPlan& plan) noexcept {
    dwrr_.plan(plan.queues);
    port_.set(plan.shaper.rate, plan.shaper.burst_bytes);
    shapes_ = port_.shapes();
    for (uint32_t q = 0; q < kQueues; ++q) {
      queues_[q].set(plan.queues[q].shaper.rate, plan.queues[q].shaper.burst_bytes);
      shapes_ |= queues_[q].shapes();
    }
    held_ = 0;
  }
  // Whether any shaper is there.
  bool shapes() const { return shapes_; }

  // Picks among the ready queues that share the port by weight; `ready` is not 0.
  uint8_t pick(uint8_t ready) noexcept { return dwrr_.pick(ready); }
  void picked(uint8_t queue, uint32_t frame_bytes, bool empty) noexcept { dwrr_.sent(queue, frame_bytes, empty); }

  // A frame of the queue has begun to leave.
  void charge(uint8_t queue, uint32_t frame_bytes, Instant start) noexcept {
    if (queues_[queue].shapes()) queues_[queue].sent(frame_bytes, start);
    if (port_.shapes()) port_.sent(frame_bytes, start);
  }
  uint8_t hold(Instant at) noexcept {
    held_ = 0;
    if (!shapes_) return held_;
    for (uint32_t q = 0; q < kQueues; ++q) {
      if (queues_[q].shapes() && queues_[q].eligible() > at) held_ |= static_cast<uint8_t>(1U << q);
    }
    if (port_.shapes() && port_.eligible() > at) held_ = 0xff;
    return held_;
  }
  Instant opens() const {
    if (held_ == 0) return Instant::never();
    Instant first = Instant::never();
    for (uint32_t q = 0; q < kQueues; ++q) {
      if ((held_ >> q & 1) != 0) first = std::min(first, queues_[q].shapes() ? queues_[q].eligible() : Instant{});
    }
    return std::max(first, port_.shapes() ? port_.eligible() : Instant{});
  }

 private:
  DwrrScheduler dwrr_;
  std::array<Shaper, kQueues> queues_;
  Shaper port_;
  uint8_t held_ = 0;
  bool shapes_ = false;
};

}  // namespace softspine::dataplane
