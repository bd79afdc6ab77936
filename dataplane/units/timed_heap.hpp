// SPDX-License-Identifier: Apache-2.0
// A small binary heap of (instant, id): the earliest first, at one instant the smaller id.
// The ids are a node's ports: each occurs at most once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class TimedHeap {
 public:
  void reserve(size_t n) {
    if (n <= room_) return;
    entries_.resize(n);
    room_ = n;
  }
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // The first entry's instant, kept apart: it is asked for more often than it changes.
  Instant next() const { return next_; }
  uint32_t top_id() const { return entries_[0].id; }

  // As top_id(); of an empty heap an arbitrary number.
  uint32_t first_id() const { return room_ == 0 ? 0 : entries_[0].id; }

  void push(Instant at, uint32_t id) {
    if (size_ == room_) [[unlikely]]
      grow();
    if (size_ == 0) {
      size_ = 1;
      entries_[0].at = at;
      entries_[0].id = id;
      next_ = at;
      return;
    }
    sift_up(size_++, Entry{at, id});
  }
  void pop() {
    if (--size_ == 0) {
      next_ = Instant::never();
    } else {
      sift_down(0, entries_[size_]);
    }
  }
  // Whether the first entry would still be the first at a later instant.
  bool stays_first(Instant at) const {
    const Entry later{at, entries_[0].id};
    return (size_ < 2 || before(later, entries_[1])) && (size_ < 3 || before(later, entries_[2]));
  }
  // The first entry gets a later instant: cheaper than pop and push.
  void replace_top(Instant at) { sift_down(0, Entry{at, entries_[0].id}); }

  // Slow: for rare events. Removes the id if it is there.
  void remove(uint32_t id) {
    for (size_t i = 0; i < size_; ++i) {
      if (entries_[i].id != id) continue;
      const Entry last = entries_[--size_];
      if (i != size_) {
        sift_down(i, last);
        sift_up(i, entries_[i]);
      }
      if (size_ == 0) next_ = Instant::never();
      return;
    }
  }

 private:
  struct Entry {
    Instant at;
    uint32_t id;
  };
  static bool before(const Entry& a, const Entry& b) { return a.at != b.at ? a.at < b.at : a.id < b.id; }

  [[gnu::noinline]] void grow() { reserve(2 * size_ + 4); }
  // Places the entry at `i` or nearer to the top.
  void sift_up(size_t i, Entry entry) {
    while (i > 0) {
      const size_t parent = (i - 1) / 2;
      if (!before(entry, entries_[parent])) break;
      entries_[i] = entries_[parent];
      i = parent;
    }
    entries_[i] = entry;
    next_ = entries_[0].at;
  }
  // Places the entry at `i` or below.
  void sift_down(size_t i, Entry entry) {
    for (;;) {
      size_t child = 2 * i + 1;
      if (child >= size_) break;
      if (child + 1 < size_ && before(entries_[child + 1], entries_[child])) ++child;
      if (!before(entries_[child], entry)) break;
      entries_[i] = entries_[child];
      i = child;
    }
    entries_[i] = entry;
    next_ = entries_[0].at;
  }

  std::vector<Entry> entries_;  // the first size_ are the heap
  size_t room_ = 0;             // entries_.size(), which has to be computed
  size_t size_ = 0;
  Instant next_ = Instant::never();
};

}  // namespace softspine::dataplane
