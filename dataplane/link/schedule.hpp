// SPDX-License-Identifier: Apache-2.0
// A worker's nodes by the instant of their next event. Only nodes with something to do are touched:
// an idle node costs nothing per window.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class Node;

struct ScheduleSlot {
  Node* node = nullptr;
  Instant next = Instant::never();
  uint32_t position = kOut;  // in the heap
  static constexpr uint32_t kOut = UINT32_MAX;
  static constexpr uint32_t kRunning = UINT32_MAX - 1;  // taken out for this window; comes back by put()
};

class Schedule {
 public:
  Instant next() const { return heap_.empty() ? Instant::never() : heap_.front()->next; }

  // An event for this node at `at`, maybe earlier than the one it waits for.
  void wake(ScheduleSlot& slot, Instant at) {
    if (at >= slot.next) [[likely]]
      return;
    if (slot.position != ScheduleSlot::kRunning) bring_forward(slot, at);
  }

  // Takes out the first node if its event lies before `until`; null otherwise.
  ScheduleSlot* take(Instant until) {
    if (heap_.empty() || !(heap_.front()->next < until)) return nullptr;
    ScheduleSlot* slot = heap_.front();
    remove_first();
    slot->position = ScheduleSlot::kRunning;
    return slot;
  }
  // After its run: when it wants to be called again.
  void put(ScheduleSlot& slot, Instant next) {
    slot.next = Instant::never();
    slot.position = ScheduleSlot::kOut;
    wake(slot, next);
  }

 private:
  // Once a node and window: out of the way of the packets.
  [[gnu::noinline]] void bring_forward(ScheduleSlot& slot, Instant at) {
    slot.next = at;
    if (slot.position == ScheduleSlot::kOut) {
      slot.position = static_cast<uint32_t>(heap_.size());
      heap_.push_back(&slot);
    }
    sift_up(slot.position);
  }
  void place(ScheduleSlot* slot, uint32_t i) {
    heap_[i] = slot;
    slot->position = i;
  }
  void sift_up(uint32_t i) {
    ScheduleSlot* slot = heap_[i];
    while (i > 0) {
      const uint32_t parent = (i - 1) / 2;
      if (heap_[parent]->next <= slot->next) break;
      place(heap_[parent], i);
      i = parent;
    }
    place(slot, i);
  }
  void remove_first() {
    ScheduleSlot* last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    uint32_t i = 0;
    const auto n = static_cast<uint32_t>(heap_.size());
    for (;;) {
      uint32_t child = 2 * i + 1;
      if (child >= n) break;
      if (child + 1 < n && heap_[child + 1]->next < heap_[child]->next) ++child;
      if (last->next <= heap_[child]->next) break;
      place(heap_[child], i);
      i = child;
    }
    place(last, i);
  }

  std::vector<ScheduleSlot*> heap_;
};

}  // namespace softspine::dataplane
