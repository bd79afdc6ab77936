// SPDX-License-Identifier: Apache-2.0
// The frames that a host's NIC has taken and not yet sent: a FIFO for each priority, and one order over all of them.
//
// A host has one ring, so its frames go in the order in which they came, whatever their priority; only a pause
// takes a priority out of that order. So pop() gives the oldest frame of the priorities it is asked for.
// The order is a number in PacketMeta::hash, which is not used before the first switch.
// Invariant: frames come in the order of `at`, so of two the older one is ready no later.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::dataplane {

class SendQueues {
 public:
  // Bit n: priority n is not empty.
  uint8_t waiting() const { return waiting_; }
  uint64_t packets() const { return packets_; }
  uint64_t bytes() const { return bytes_; }

  // The packet is ready at the `at` of its meta.
  void push(Packet packet, uint8_t priority) {
    packet.meta().hash = next_++;
    bytes_ += packet.frame_bytes();
    ++packets_;
    waiting_ = static_cast<uint8_t>(waiting_ | 1U << priority);
    queues_[priority].push(std::move(packet));
  }
  // When the oldest frame of these priorities is ready; never() if there is none.
  Instant ready(uint8_t of) const {
    const unsigned found = oldest(of);
    return found < kPriorities ? queues_[found].front().at : Instant::never();
  }
  // Empty if there is none that is ready by `now`.
  Packet pop(uint8_t of, Instant now) {
    const unsigned found = oldest(of);
    if (found >= kPriorities || queues_[found].front().at > now) return Packet{};
    PacketList& queue = queues_[found];
    Packet packet = queue.pop();
    if (queue.empty()) {
      waiting_ = static_cast<uint8_t>(waiting_ & ~(1U << found));
    } else {
      queue.prefetch_front();
    }
    --packets_;
    bytes_ -= packet.frame_bytes();
    return packet;
  }

 private:
  unsigned oldest(uint8_t of) const {
    unsigned found = kPriorities;
    for (unsigned left = waiting_ & of; left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(left));
      // The numbers wrap, but those of two waiting frames differ by less than half their range. So the sign of the
      // difference shows which frame is older.
      if (found == kPriorities || static_cast<int32_t>(queues_[i].front().hash - queues_[found].front().hash) < 0) {
        found = i;
      }
    }
    return found;
  }

  std::array<PacketList, kPriorities> queues_;
  uint64_t packets_ = 0;
  uint64_t bytes_ = 0;
  uint32_t next_ = 0;
  uint8_t waiting_ = 0;
};

}  // namespace softspine::dataplane
