// SPDX-License-Identifier: Apache-2.0
// A small binary heap of (instant, id): the earliest first, at one instant the smaller id.
// The ids are a node's ports: each occurs at most once.
//
// The first entry lies here, and the heap itself is touched only from the second on: a host's heaps hold one entry or
// none, and in a fabric of thousands of hosts each further cache line is a miss.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "dataplane/units/check.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class TimedHeap {
 public:
  void reserve(size_t n) {
    if (n <= room_) return;
    SOFTSPINE_CHECK(n <= UINT32_MAX, n, room_);
    auto larger = std::make_unique<Entry[]>(n);
    std::copy_n(entries_.get(), room_, larger.get());
    entries_ = std::move(larger);
    room_ = static_cast<uint32_t>(n);
  }
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // Of an empty heap never().
  Instant next() const { return next_; }
  uint32_t top_id() const { return first_id_; }

  void push(Instant at, uint32_t id) {
    if (size_ == room_) [[unlikely]]
      grow();
    if (size_++ == 0) {
      set_first({at, id});
      return;
    }
    if (size_ == 2) entries_[0] = first();
    sift_up(size_ - 1, Entry{at, id});
  }
  void pop() {
    if (--size_ == 0) {
      next_ = Instant::never();
    } else if (size_ == 1) {
      set_first(entries_[1]);
    } else {
      sift_down(0, entries_[size_]);
    }
  }
  // The first entry gets a later instant: cheaper than pop and push.
  void replace_top(Instant at) {
    if (size_ == 1) {
      next_ = at;
    } else {
      sift_down(0, Entry{at, first_id_});
    }
  }

  // Slow: for rare events. Removes the id if it is there.
  void remove(uint32_t id) {
    if (size_ == 0) return;
    if (first_id_ == id) return pop();
    for (uint32_t i = 1; i < size_; ++i) {
      if (entries_[i].id != id) continue;
      const Entry last = entries_[--size_];
      if (i == size_) return;
      sift_down(i, last);
      sift_up(i, entries_[i]);
      return;
    }
  }

 private:
  struct Entry {
    Instant at;
    uint32_t id;
  };
  static bool before(const Entry& a, const Entry& b) { return a.at != b.at ? a.at < b.at : a.id < b.id; }
  Entry first() const { return {next_, first_id_}; }
  void set_first(Entry entry) {
    next_ = entry.at;
    first_id_ = entry.id;
  }

  [[gnu::noinline]] void grow() { reserve(size_t{2} * size_ + 4); }
  // Places the entry at `i` or nearer to the top.
  void sift_up(uint32_t i, Entry entry) {
    while (i > 0) {
      const uint32_t parent = (i - 1) / 2;
      if (!before(entry, entries_[parent])) break;
      entries_[i] = entries_[parent];
      i = parent;
    }
    entries_[i] = entry;
    if (i == 0) set_first(entry);
  }
  // Places the entry at `i` or below.
  void sift_down(uint32_t i, Entry entry) {
    const bool is_first = i == 0;
    for (;;) {
      uint32_t child = 2 * i + 1;
      if (child >= size_) break;
      if (child + 1 < size_ && before(entries_[child + 1], entries_[child])) ++child;
      if (!before(entries_[child], entry)) break;
      entries_[i] = entries_[child];
      i = child;
    }
    entries_[i] = entry;
    if (is_first) set_first(entries_[0]);
  }

  Instant next_ = Instant::never();  // of the first entry; with first_id_ it is all that there is of a heap of one
  uint32_t first_id_ = 0;
  uint32_t size_ = 0;
  std::unique_ptr<Entry[]> entries_;  // of two and more the first size_ are the heap, the first of all included
  uint32_t room_ = 0;
};
static_assert(sizeof(TimedHeap) == 32);

}  // namespace softspine::dataplane
