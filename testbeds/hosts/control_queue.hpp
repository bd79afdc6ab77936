// SPDX-License-Identifier: Apache-2.0
// What a host's port sends beside its queue pairs' data: answers (ARP, ND, echo), acknowledgements, CNPs.
//
// A FIFO for each priority; the highest priority that is neither empty nor blocked goes first. A packet is ready at its
// meta's `at`; within a priority no packet is ready before those ahead of it.
// Maximum: kPacketLimit packets of a priority. Who pushes asks has_room() first, and counts what it has to drop.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::testbeds {

class ControlQueue {
 public:
  static constexpr uint32_t kPacketLimit = 1024;

  // Bit n: priority n is not empty.
  uint8_t waiting() const { return waiting_; }
  bool has_room(uint8_t priority) const { return queues_[priority].packets < kPacketLimit; }

  // Needs has_room().
  void push(dataplane::Packet packet, uint8_t priority) {
    Queue& queue = queues_[priority];
    queue.list.push(std::move(packet));
    ++queue.packets;
    waiting_ = static_cast<uint8_t>(waiting_ | 1U << priority);
  }
  // From when on one of a priority that is not paused may leave; never() if there is none.
  dataplane::Instant ready(uint8_t paused) const {
    dataplane::Instant first = dataplane::Instant::never();
    for (unsigned left = waiting_ & ~unsigned{paused}; left != 0; left &= left - 1) {
      first = std::min(first, queues_[static_cast<size_t>(std::countr_zero(left))].list.front().at);
    }
    return first;
  }
  // The one whose turn it is at `now` ≥ ready(paused).
  dataplane::Packet take(uint8_t paused, dataplane::Instant now) {
    unsigned left = waiting_ & ~unsigned{paused};
    auto priority = static_cast<unsigned>(std::bit_width(left)) - 1;
    while (queues_[priority].list.front().at > now) {
      left ^= 1U << priority;
      priority = static_cast<unsigned>(std::bit_width(left)) - 1;
    }
    return pop(priority);
  }
  // For who empties it. Needs waiting().
  dataplane::Packet pop_any() { return pop(static_cast<unsigned>(std::countr_zero(waiting_))); }

 private:
  struct Queue {
    dataplane::PacketList list;
    uint32_t packets = 0;
  };
  dataplane::Packet pop(unsigned priority) {
    Queue& queue = queues_[priority];
    if (--queue.packets == 0) waiting_ = static_cast<uint8_t>(waiting_ & ~(1U << priority));
    return queue.list.pop();
  }

  uint8_t waiting_ = 0;
  std::array<Queue, dataplane::kPriorities> queues_;
};

}  // namespace softspine::testbeds
