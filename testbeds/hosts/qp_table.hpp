// SPDX-License-Identifier: Apache-2.0
// From a queue pair's number to what the host keeps of it: its sender, its sink, or both.
// Open addressing at a load of at most a half; one or two looks in the same cache line for
// numbers that were given in a row. Grows between windows, never while packets run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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
    if (2 * (count_ + 1) > slots_.size()) grow();
    Entry& entry = slots_[slot_of(qp)];
    if (entry.qp == kNone) {
      entry.qp = qp;
      ++count_;
    }
    return entry;
  }
  // One with kNone everywhere if it is unknown.
  const Entry& find(uint32_t qp) const { return slots_[slot_of(qp)]; }

  const void* place() const { return slots_.data(); }  // to be prefetched

 private:
  size_t slot_of(uint32_t qp) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = qp & mask;
    while (slots_[slot].qp != qp && slots_[slot].qp != kNone) slot = (slot + 1) & mask;
    return slot;
  }
  void grow() {
    std::vector<Entry> before(slots_.size() * 2);
    before.swap(slots_);
    for (const Entry& entry : before) {
      if (entry.qp != kNone) slots_[slot_of(entry.qp)] = entry;
    }
  }

  std::vector<Entry> slots_ = std::vector<Entry>(4);
  size_t count_ = 0;
};

}  // namespace softspine::testbeds
