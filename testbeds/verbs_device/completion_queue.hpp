// SPDX-License-Identifier: Apache-2.0
// A completion queue: its ring is written here and read by the program. A program that has asked for it (armed) gets
// the queue's handle through its channel with the next completion.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "testbeds/verbs_device/sealed_memory.hpp"
#include "testbeds/verbs_device/shared/queue_memory.hpp"

namespace softspine::testbeds {

class CompletionQueue {
 public:
  uint32_t client = 0;
  uint32_t handle = 0;
  uint32_t users = 0;    // queue pairs; with any it is not destroyed
  int channel_fd = -1;   // the end that we write; the channel outlives the queue
  uint32_t channel = 0;  // handle + 1
  bool has_overflown = false;

  // `slots`: a power of two, at most kCompletionSlotLimit. False: no memory.
  bool open(uint32_t slots) noexcept {
    memory_ = SealedMemory::make(queue_bytes(slots, sizeof(CompletionSlot)));
    slots_ = slots;
    return static_cast<bool>(memory_);
  }
  SealedMemory& memory() { return memory_; }
  uint32_t slots() const { return slots_; }

  // False if there is no room: the queue has overflown, and takes nothing more.
  bool push(const CompletionSlot& completion, bool is_solicited) noexcept {
    QueueHead& head = *reinterpret_cast<QueueHead*>(memory_.place());
    const uint32_t consumed = head.consumed.load(std::memory_order_acquire);
    if (has_overflown || produced_ - consumed >= slots_) {
      has_overflown = true;
      return false;
    }
    uint8_t* const ring = memory_.place() + sizeof(QueueHead);
    std::memcpy(ring + size_t{produced_ & (slots_ - 1)} * sizeof completion, &completion, sizeof completion);
    head.produced.store(++produced_, std::memory_order_seq_cst);
    const uint32_t armed = head.armed.load(std::memory_order_seq_cst);
    if (armed == kAnyArmed || (armed == kSolicitedArmed && is_solicited)) notify(head);
    return true;
  }

 private:
  // A channel that is full has told the program enough.
  void notify(QueueHead& head) noexcept {
    if (channel_fd < 0 || head.armed.exchange(kNotArmed, std::memory_order_seq_cst) == kNotArmed) return;
    static_cast<void>(send(channel_fd, &handle, sizeof handle, MSG_DONTWAIT | MSG_NOSIGNAL));
  }

  SealedMemory memory_;
  uint32_t slots_ = 0;
  uint32_t produced_ = 0;
};

}  // namespace softspine::testbeds
