// SPDX-License-Identifier: Apache-2.0
// Ports in the order of an instant that each has: the earliest first, at one instant the smaller number. Each port
// occurs at most once. As TimedHeap, for the ports of one node: what comes next mostly belongs at the end of the row
// (a port's next arrival is about a frame's time after its last, as the other ports' are), where it costs one
// comparison; a place in the middle is searched for, and what stands behind it moves.
//
// The first entry lies here, and the row itself is touched only from the second on: most nodes have one entry or none,
// and in a fabric of thousands of hosts each further cache line is a miss.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "dataplane/units/check.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class TimedRow {
 public:
  // Room for `n` ports.
  void reserve(size_t n) {
    if (n <= room_) return;
    SOFTSPINE_CHECK(n <= UINT32_MAX / kSlack, n, room_);
    auto larger = std::make_unique<Entry[]>(kSlack * n);
    if (behind() != 0) std::copy_n(begin(), behind(), larger.get());
    entries_ = std::move(larger);
    head_ = 0;
    room_ = static_cast<uint32_t>(n);
  }
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // Of an empty row never().
  Instant next() const { return next_; }
  // Of an empty row an arbitrary number.
  uint32_t top_id() const { return first_id_; }

  void push(Instant at, uint32_t id) {
    if (size_ == 0) {
      set_first({at, id});
    } else if (before({at, id}, first())) {
      insert_first(std::exchange(next_, at), std::exchange(first_id_, id));
    } else {
      insert({at, id});
    }
    ++size_;
  }
  void pop() {
    if (--size_ == 0) {
      next_ = Instant::never();
    } else {
      set_first(entries_[head_++]);
    }
  }
  // Whether the first entry would still be the first at a later instant.
  bool stays_first(Instant at) const { return size_ < 2 || before({at, first_id_}, entries_[head_]); }
  // The first entry gets a later instant.
  void replace_top(Instant at) {
    if (stays_first(at)) {
      next_ = at;
      return;
    }
    const Entry later{at, first_id_};
    set_first(entries_[head_++]);
    --size_;
    insert(later);
    ++size_;
  }

  // Slow: for rare events. Removes the id if it is there.
  void remove(uint32_t id) {
    if (size_ == 0) return;
    if (first_id_ == id) return pop();
    Entry* const end = begin() + behind();
    Entry* const found = std::find_if(begin(), end, [id](const Entry& each) { return each.id == id; });
    if (found == end) return;
    std::copy(found + 1, end, found);
    --size_;
  }

 private:
  struct Entry {
    Instant at;
    uint32_t id;
  };
  static constexpr uint32_t kSlack = 2;  // times the room: so often the row goes through it before it moves back
  static constexpr uint32_t kNear = 8;   // places from the end that are looked at one by one

  static bool before(const Entry& a, const Entry& b) { return a.at != b.at ? a.at < b.at : a.id < b.id; }
  Entry first() const { return {next_, first_id_}; }
  void set_first(Entry entry) {
    next_ = entry.at;
    first_id_ = entry.id;
  }
  // Those behind the first.
  uint32_t behind() const { return size_ < 2 ? 0 : size_ - 1; }
  Entry* begin() const { return entries_.get() + head_; }

  // Behind the first, size_ not yet counting it.
  void insert(Entry entry) {
    const uint32_t end = head_ + size_ - 1;
    if (end >= kSlack * room_) [[unlikely]]
      return insert(entry, make_room());
    insert(entry, end);
  }
  void insert(Entry entry, uint32_t end) {
    const uint32_t stop = end - head_ > kNear ? end - kNear : head_;
    uint32_t i = end;
    for (; i != stop && before(entry, entries_[i - 1]); --i) entries_[i] = entries_[i - 1];
    if (i == stop && i != head_) [[unlikely]]
      i = move_back(entry, i);
    entries_[i] = entry;
  }
  // Those behind the entry's place move, up to the free place `end`. Returns the place.
  [[gnu::noinline]] uint32_t move_back(Entry entry, uint32_t end) {
    Entry* const last = entries_.get() + end;
    Entry* const place = std::upper_bound(begin(), last, entry, before);
    std::move_backward(place, last, last + 1);
    return static_cast<uint32_t>(place - entries_.get());
  }
  // The row moves to the beginning of its memory, which grows first if it is full. Returns the row's end.
  [[gnu::noinline]] uint32_t make_room() {
    const uint32_t count = size_ - 1;
    if (count >= room_) {
      reserve(size_t{2} * room_ + 4);
    } else {
      std::copy_n(begin(), count, entries_.get());
      head_ = 0;
    }
    return count;
  }
  // Before all that stand behind the first.
  void insert_first(Instant at, uint32_t id) {
    if (head_ == 0) [[unlikely]]
      make_front();
    entries_[--head_] = {at, id};
  }
  [[gnu::noinline]] void make_front() {
    const uint32_t count = size_ - 1;
    if (count >= room_) reserve(size_t{2} * room_ + 4);
    const uint32_t to = kSlack * room_ - count;  // ≥ room_ > 0
    std::move_backward(begin(), begin() + count, entries_.get() + to + count);
    head_ = to;
  }

  Instant next_ = Instant::never();  // of the first entry; with first_id_ it is all that there is of a row of one
  uint32_t first_id_ = 0;
  uint32_t size_ = 0;
  std::unique_ptr<Entry[]> entries_;  // those behind the first, in their order, from head_ on
  uint32_t room_ = 0;
  uint32_t head_ = 0;
};
static_assert(sizeof(TimedRow) == 32);

}  // namespace softspine::dataplane
