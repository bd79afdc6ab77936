// SPDX-License-Identifier: Apache-2.0
// A small binary heap of (instant, id): the earliest first, at one instant the smaller id.
// For the ports of a node: each id stands in it at most once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class TimedHeap {
 public:
  void reserve(size_t n) { entries_.reserve(n); }
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  Instant next() const { return entries_.empty() ? Instant::never() : entries_.front().at; }
  uint32_t top_id() const { return entries_.front().id; }

  void push(Instant at, uint32_t id) {
    entries_.push_back({at, id});
    sift_up(entries_.size() - 1);
  }
  void pop() {
    const Entry last = entries_.back();
    entries_.pop_back();
    if (!entries_.empty()) sift_down(0, last);
  }
  // The first entry gets a later instant: cheaper than pop and push.
  void replace_top(Instant at) { sift_down(0, Entry{at, entries_.front().id}); }

  // Slow: for rare events. Removes the id if it is there.
  void remove(uint32_t id) {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].id != id) continue;
      const Entry last = entries_.back();
      entries_.pop_back();
      if (i == entries_.size()) return;
      sift_down(i, last);
      sift_up(i);
      return;
    }
  }

 private:
  struct Entry {
    Instant at;
    uint32_t id;
  };
  static bool before(const Entry& a, const Entry& b) { return a.at != b.at ? a.at < b.at : a.id < b.id; }

  void sift_up(size_t i) {
    const Entry entry = entries_[i];
    while (i > 0) {
      const size_t parent = (i - 1) / 2;
      if (!before(entry, entries_[parent])) break;
      entries_[i] = entries_[parent];
      i = parent;
    }
    entries_[i] = entry;
  }
  void sift_down(size_t i, Entry entry) {
    const size_t n = entries_.size();
    for (;;) {
      size_t child = 2 * i + 1;
      if (child >= n) break;
      if (child + 1 < n && before(entries_[child + 1], entries_[child])) ++child;
      if (!before(entries_[child], entry)) break;
      entries_[i] = entries_[child];
      i = child;
    }
    entries_[i] = entry;
  }

  std::vector<Entry> entries_;
};

}  // namespace softspine::dataplane
