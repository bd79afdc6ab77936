// SPDX-License-Identifier: Apache-2.0
// A ring of work that a program posts, as the device reads it. The program may write anything at any time: a slot is
// copied before it is looked at, and the ring is never read beyond what it can hold.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>

#include "testbeds/verbs_device/sealed_memory.hpp"
#include "testbeds/verbs_device/shared/queue_memory.hpp"

namespace softspine::testbeds {

class WorkRing {
 public:
  // `slots`: a power of two. False: no memory.
  bool open(uint32_t slots, uint32_t slot_bytes) noexcept {
    memory_ = SealedMemory::make(queue_bytes(slots, slot_bytes));
    slots_ = slots;
    slot_bytes_ = slot_bytes;
    return static_cast<bool>(memory_);
  }
  SealedMemory& memory() { return memory_; }
  uint32_t slots() const { return slots_; }

  // How many were posted and not yet taken. More than the ring holds is a lie, and counts as none.
  uint32_t waiting() const noexcept {
    if (!memory_) return 0;
    const uint32_t waiting = head().produced.load(std::memory_order_acquire) - taken_;
    return waiting <= slots_ ? waiting : 0;
  }
  // Needs waiting() > 0. The slot stays the device's until it is given back.
  const uint8_t* take() noexcept { return slot(taken_++); }
  const uint8_t* slot(uint32_t index) const noexcept {
    return memory_.place() + sizeof(QueueHead) + size_t{index & (slots_ - 1)} * slot_bytes_;
  }
  uint32_t taken() const { return taken_; }
  // The oldest slot is the program's again.
  void give_back() noexcept { head().consumed.store(++given_back_, std::memory_order_release); }
  // The program rings for each receive from now on: the queue pair has failed, and flushes them.
  void ask_to_ring() noexcept { head().armed.store(1, std::memory_order_seq_cst); }
  // All that was posted is forgotten.
  void reset() noexcept {
    if (!memory_) return;
    taken_ = given_back_ = head().produced.load(std::memory_order_acquire);
    head().consumed.store(given_back_, std::memory_order_release);
    head().armed.store(0, std::memory_order_relaxed);
  }

 private:
  QueueHead& head() const noexcept { return *reinterpret_cast<QueueHead*>(memory_.place()); }

  SealedMemory memory_;
  uint32_t slots_ = 0;
  uint32_t slot_bytes_ = 0;
  uint32_t taken_ = 0;
  uint32_t given_back_ = 0;
};

// A receive that was posted, as copied. `is_sound`: it names no more pieces than its queue allows.
struct ReceiveWork {
  uint64_t id = 0;
  uint32_t pieces = 0;
  uint64_t bytes = 0;
  std::array<MemoryPiece, kPieceLimit> piece{};
};

// The next receive of a ring; none if nothing is posted. One with too many pieces has none.
inline std::optional<ReceiveWork> take_receive(WorkRing& ring, uint32_t most_pieces) noexcept {
  if (ring.waiting() == 0) return std::nullopt;
  const uint8_t* const from = ring.take();
  ReceiveSlot slot;
  std::memcpy(&slot, from, sizeof slot);
  ReceiveWork work{.id = slot.id, .pieces = slot.pieces <= most_pieces ? slot.pieces : 0};
  std::memcpy(work.piece.data(), from + sizeof slot, work.pieces * sizeof(MemoryPiece));
  for (uint32_t i = 0; i < work.pieces; ++i) work.bytes += work.piece[i].length;
  ring.give_back();
  return work;
}

}  // namespace softspine::testbeds
