// SPDX-License-Identifier: Apache-2.0
// The parts of a group of nodes (engine/window_group.hpp), nodes and further groups, by the instant of their next
// event. Only parts with an event in the window are touched: an idle one costs nothing per window. Parts with an event
// soon lie on a wheel of buckets, 16 ns each and 17 µs in all, where each costs the same however many there are. Parts
// with a later event lie in a heap until they are due or brought forward.
//
// A group's schedule is itself a part in the schedule of the group around it, by its earliest event: an event that is
// brought forward here is brought forward there, too.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "dataplane/units/check.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class Node;
class WindowGroup;

struct ScheduleSlot {
  enum class Place : uint8_t {
    kOut,
    kNear,     // in bucket `index`
    kFar,      // in the heap at `index`
    kRunning,  // taken out for this window; comes back by put()
  };
  Node* node = nullptr;  // one of the two
  WindowGroup* group = nullptr;
  Instant next = Instant::never();
  Place place = Place::kOut;
  uint32_t index = 0;
  ScheduleSlot* before = nullptr;  // in its bucket
  ScheduleSlot* after = nullptr;
};

class Schedule {
 public:
  // From now on `own` stands for this schedule's earliest event in `outer`. Called before the first event.
  void is_part_of(Schedule& outer, ScheduleSlot& own) {
    outer_ = &outer;
    own_ = &own;
  }

  Instant next() const {
    Instant first = far_.empty() ? Instant::never() : far_.front()->next;
    const int64_t bucket = first_occupied();
    if (bucket == kNone) return first;
    for (const ScheduleSlot* slot = heads_[index_of(bucket)]; slot != nullptr; slot = slot->after) {
      first = std::min(first, slot->next);
    }
    return first;
  }

  // This part has an event at `at`, which may be earlier than the one that it waits for.
  void wake(ScheduleSlot& slot, Instant at) {
    if (at >= slot.next) [[likely]]
      return;
    if (slot.place != ScheduleSlot::Place::kRunning) bring_forward(slot, at);
  }

  // Takes out the parts whose events lie before `until`, in no particular order; the list is valid until the next
  // call.
  const std::vector<ScheduleSlot*>& take(Instant until) {
    due_.clear();
    for (int64_t bucket = first_occupied(); bucket != kNone; bucket = first_occupied()) {
      ScheduleSlot* after = nullptr;
      for (ScheduleSlot* slot = heads_[index_of(bucket)]; slot != nullptr; slot = after) {
        after = slot->after;
        if (slot->next >= until) continue;
        unlink(*slot);
        due_.push_back(slot);
      }
      // Some parts of this bucket are not due yet, so none of a later bucket is.
      if (heads_[index_of(bucket)] != nullptr) break;
    }
    while (!far_.empty() && far_.front()->next < until) {
      due_.push_back(far_.front());
      remove_far(0);
    }
    for (ScheduleSlot* slot : due_) slot->place = ScheduleSlot::Place::kRunning;
    until_ = until;
    if (!until.is_never()) floor_ = std::max(floor_, bucket_of(until));
    return due_;
  }
  // After the part's run: `next` is when it has to run again.
  void put(ScheduleSlot& slot, Instant next) {
    slot.next = next;
    slot.place = ScheduleSlot::Place::kOut;
    if (!next.is_never()) insert(slot);
  }

 private:
  static constexpr int kBucketBits = 14;  // 2^14 ps
  static constexpr uint32_t kWord = 32;
  static constexpr uint32_t kBuckets = kWord * kWord;  // so that one word (words_) tells which words are not empty
  static constexpr int64_t kNone = -1;

  static int64_t bucket_of(Instant at) { return at.count_ps() >> kBucketBits; }
  static uint32_t index_of(int64_t bucket) { return static_cast<uint32_t>(bucket) % kBuckets; }

  // Once per part and window, not per packet: kept out of the packets' code path.
  [[gnu::noinline]] void bring_forward(ScheduleSlot& slot, Instant at) {
    // No event may be delivered in the window that produced it: the window's parts would have to run in order.
    SOFTSPINE_CHECK(at >= until_ || until_.is_never(), at.count_ps(), until_.count_ps());
    if (slot.place == ScheduleSlot::Place::kNear) unlink(slot);
    if (slot.place == ScheduleSlot::Place::kFar) remove_far(slot.index);
    slot.next = at;
    insert(slot);
    if (outer_ != nullptr) outer_->wake(*own_, at);
  }

  void insert(ScheduleSlot& slot) {
    // An event before the floor (there should be none) goes into the floor's bucket, which is searched first.
    const int64_t bucket = std::max(bucket_of(slot.next), floor_);
    if (bucket - floor_ >= kBuckets) return insert_far(slot);
    const uint32_t index = index_of(bucket);
    ScheduleSlot*& head = heads_[index];
    slot.place = ScheduleSlot::Place::kNear;
    slot.index = index;
    slot.before = nullptr;
    slot.after = head;
    if (head != nullptr) head->before = &slot;
    head = &slot;
    occupied_[index / kWord] |= uint32_t{1} << index % kWord;
    words_ |= uint32_t{1} << index / kWord;
  }

  void unlink(ScheduleSlot& slot) {
    if (slot.after != nullptr) slot.after->before = slot.before;
    if (slot.before != nullptr) {
      slot.before->after = slot.after;
      return;
    }
    heads_[slot.index] = slot.after;
    if (slot.after != nullptr) return;
    const uint32_t word = slot.index / kWord;
    occupied_[word] &= ~(uint32_t{1} << slot.index % kWord);
    if (occupied_[word] == 0) words_ &= ~(uint32_t{1} << word);
  }

  // The first bucket from the floor on that holds a node, or kNone.
  int64_t first_occupied() const {
    const uint32_t start = index_of(floor_);
    const uint32_t here = occupied_[start / kWord] >> start % kWord;
    if (here != 0) return floor_ + std::countr_zero(here);
    // The words after the floor's word, in their order around the wheel. The floor's word comes last: its bits before
    // the floor are the last buckets of the wheel.
    const uint32_t others = std::rotr(words_, static_cast<int>(start / kWord + 1));
    if (others == 0) return kNone;
    const auto ahead = static_cast<uint32_t>(std::countr_zero(others)) + 1;
    const uint32_t word = occupied_[(start / kWord + ahead) % kWord];
    return floor_ - start % kWord + int64_t{ahead} * kWord + std::countr_zero(word);
  }

  void insert_far(ScheduleSlot& slot) {
    slot.place = ScheduleSlot::Place::kFar;
    far_.push_back(&slot);
    sift_up(static_cast<uint32_t>(far_.size()) - 1);
  }
  void remove_far(uint32_t i) {
    ScheduleSlot* last = far_.back();
    far_.pop_back();
    if (i == far_.size()) return;
    place_far(last, i);
    sift_up(i);
    sift_down(last->index);
  }
  void place_far(ScheduleSlot* slot, uint32_t i) {
    far_[i] = slot;
    slot->index = i;
  }
  void sift_up(uint32_t i) {
    ScheduleSlot* slot = far_[i];
    while (i > 0) {
      const uint32_t parent = (i - 1) / 2;
      if (far_[parent]->next <= slot->next) break;
      place_far(far_[parent], i);
      i = parent;
    }
    place_far(slot, i);
  }
  void sift_down(uint32_t i) {
    ScheduleSlot* slot = far_[i];
    const auto n = static_cast<uint32_t>(far_.size());
    for (;;) {
      uint32_t child = 2 * i + 1;
      if (child >= n) break;
      if (child + 1 < n && far_[child + 1]->next < far_[child]->next) ++child;
      if (slot->next <= far_[child]->next) break;
      place_far(far_[child], i);
      i = child;
    }
    place_far(slot, i);
  }

  Instant until_;      // the last window's end
  int64_t floor_ = 0;  // no earlier bucket holds a part; the wheel begins here
  uint32_t words_ = 0;
  std::array<uint32_t, kWord> occupied_{};
  std::array<ScheduleSlot*, kBuckets> heads_{};
  std::vector<ScheduleSlot*> far_;
  std::vector<ScheduleSlot*> due_;
  Schedule* outer_ = nullptr;
  ScheduleSlot* own_ = nullptr;
};

}  // namespace softspine::dataplane
