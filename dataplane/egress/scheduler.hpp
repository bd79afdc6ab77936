// SPDX-License-Identifier: Apache-2.0
// Which queue of a port goes next: strict ones first, the highest number first; then the others by deficit
// weighted round robin (Shreedhar and Varghese 1995; SAI's SCHEDULING_TYPE_DWRR).
//
// A queue's turn gives it weight × kQuantumBytes of credit; it sends while its credit is above zero, so it may
// overdraw by one frame and pays that back in its next turn: no need to know the length of what comes. A queue
// that runs empty loses what it has left (not what it owes). Over a time in which the same queues always have
// something, bytes sent are in the ratio of the weights within kQuantumBytes × weight + one frame a queue.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "dataplane/egress/qos_plan.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::dataplane {

class Scheduler {
 public:
  static constexpr int32_t kQuantumBytes = 256;

  void plan(const std::array<QueueSchedule, kQueues>& queues) noexcept {
    strict_ = 0;
    for (uint32_t q = 0; q < kQueues; ++q) {
      if (queues[q].strict) strict_ |= static_cast<uint8_t>(1U << q);
      turn_bytes_[q] = queues[q].weight * kQuantumBytes;
      credit_[q] = 0;
    }
  }
  // `ready`: the queues that have something and may send; not 0.
  [[gnu::always_inline]] uint8_t pick(uint8_t ready) noexcept {
    const auto strict = static_cast<uint8_t>(ready & strict_);
    if (strict != 0) [[likely]]
      return static_cast<uint8_t>(std::bit_width(strict) - 1);
    return pick_by_turns(ready);
  }
  // Of a queue that was picked, with the bytes of its frame.
  void sent(uint8_t queue, uint32_t frame_bytes, bool empty) noexcept {
    if ((strict_ >> queue & 1) != 0) [[likely]]
      return;
    credit_[queue] -= static_cast<int32_t>(frame_bytes);
    if (empty && credit_[queue] > 0) credit_[queue] = 0;
  }

 private:
  [[gnu::noinline]] uint8_t pick_by_turns(uint8_t ready) noexcept {
    while ((ready >> turn_ & 1) == 0 || credit_[turn_] <= 0) {
      // The next ready queue after this one, round and round.
      const auto after = static_cast<uint8_t>(ready & (0xfeU << turn_));
      turn_ = static_cast<uint8_t>(std::countr_zero(after != 0 ? after : ready));
      credit_[turn_] += turn_bytes_[turn_];
    }
    return turn_;
  }

  std::array<int32_t, kQueues> credit_{};
  std::array<int32_t, kQueues> turn_bytes_{};
  uint8_t strict_ = 0xff;
  uint8_t turn_ = 0;
};

}  // namespace softspine::dataplane
