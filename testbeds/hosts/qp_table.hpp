// SPDX-License-Identifier: Apache-2.0
// From a queue pair's number to what the host keeps of it: its sender, its sink, or both.
// Open addressing at a load of at most a half; one or two looks in the same cache line for
// numbers that were given in a row. Grows between windows, never while packets run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace softspine::testbeds {

class QpTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Entry {
    uint32_t qp = kNone;  // numbers have 24 bits
    uint32_t flow = kNone;
    uint32_t sink = kNone;
    uint32_t answering = kNone;  // how the sink answers, if it does
  };

  // The entry of a number, made if it is not there yet. Valid until the next call.
  Entry& insert(uint32_t qp) {
    if (2 * (count_ + 1) > mask_ + 1) grow();
    Entry& entry = slots_[slot_of(qp)];
    if (entry.qp == kNone) {
      entry.qp = qp;
      ++count_;
    }
    return entry;
  }
  // One with kNone everywhere if it is unknown.
  const Entry& find(uint32_t qp) const { return slots_[slot_of(qp)]; }

  const void* place() const { return slots_.get(); }  // to be prefetched

 private:
  size_t slot_of(uint32_t qp) const {
    size_t slot = qp & mask_;
    while (slots_[slot].qp != qp && slots_[slot].qp != kNone) slot = (slot + 1) & mask_;
    return slot;
  }
  void grow() {
    const uint32_t slots = mask_ + 1;
    const std::unique_ptr<Entry[]> before = std::exchange(slots_, std::make_unique<Entry[]>(size_t{2} * slots));
    mask_ = 2 * slots - 1;
    for (uint32_t i = 0; i < slots; ++i) {
      if (before[i].qp != kNone) slots_[slot_of(before[i].qp)] = before[i];
    }
  }

  static constexpr uint32_t kFewest = 4;  // in one cache line

  uint32_t mask_ = kFewest - 1;
  uint32_t count_ = 0;
  std::unique_ptr<Entry[]> slots_ = std::make_unique<Entry[]>(kFewest);
};

}  // namespace softspine::testbeds
