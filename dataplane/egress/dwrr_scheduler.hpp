// SPDX-License-Identifier: Apache-2.0
// Which of the queues that share a port sends next: deficit weighted round robin (Shreedhar and Varghese
// 1995; SAI's SCHEDULING_TYPE_DWRR). Strict queues go before them and are not scheduled here.
//
// A queue's turn gives it weight × kQuantumBytes of deficit credit, and it sends while its credit is above zero. So it
// may overdraw by one frame, which it pays back in its next turn, and the length of the next frame need not be known. A
// queue that runs empty loses the credit that it has left, but not a debt. While the same queues always have something
// to send, their bytes are in the ratio of their weights, within kQuantumBytes × weight + one frame a queue.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "dataplane/egress/qos_plan.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::dataplane {

class DwrrScheduler {
 public:
  static constexpr int32_t kQuantumBytes = 256;

  void plan(const std::array<QueueSchedule, kQueues>& queues) noexcept {
    for (uint32_t q = 0; q < kQueues; ++q) {
      turn_bytes_[q] = static_cast<uint16_t>(queues[q].weight * kQuantumBytes);
      credit_[q] = 0;
    }
  }
  // `ready`: the queues that have something and may send; not 0.
  uint8_t pick(uint8_t ready) noexcept {
    while ((ready >> turn_ & 1) == 0 || credit_[turn_] <= 0) {
      // The next ready queue after this one, round and round.
      const auto after = static_cast<uint8_t>(ready & (0xfeU << turn_));
      turn_ = static_cast<uint8_t>(std::countr_zero(after != 0 ? after : ready));
      credit_[turn_] += turn_bytes_[turn_];
    }
    return turn_;
  }
  // Charges a queue that was picked for the frame that it sent; `empty`: it has no further frame.
  void sent(uint8_t queue, uint32_t frame_bytes, bool empty) noexcept {
    credit_[queue] -= static_cast<int32_t>(frame_bytes);
    if (empty && credit_[queue] > 0) credit_[queue] = 0;
  }

 private:
  std::array<int32_t, kQueues> credit_{};
  std::array<uint16_t, kQueues> turn_bytes_{};  // kQuantumBytes times a weight of 8 bits
  uint8_t turn_ = 0;
};

}  // namespace softspine::dataplane
