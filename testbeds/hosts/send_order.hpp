// SPDX-License-Identifier: Apache-2.0
// Which queue pair sends next at a port. Queue pairs that may send now stand in a ring and take turns, a packet each.
// The others wait in a heap for the instant at which they may; at one instant the smaller index enters the ring first.
//
// A queue pair stands in exactly one of the two, or in neither: while it sends, or when it has nothing left to send.
// Cost: constant among thousands that send at line rate, logarithmic for those that are paced.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "dataplane/units/time.hpp"
#include "dataplane/units/timed_heap.hpp"

namespace softspine::testbeds {

class SendOrder {
 public:
  // Room for `count` queue pairs; between windows.
  void reserve(uint32_t count) {
    waiting_.reserve(count);
    if (kept_.capacity() < count) kept_.reserve(size_t{2} * count);
    if (count <= ring_.size()) return;
    std::vector<uint32_t> larger;
    while (head_ != tail_) larger.push_back(pop());
    tail_ = static_cast<uint32_t>(larger.size());
    head_ = 0;
    uint32_t slots = 4;
    while (slots < count) slots *= 2;
    larger.resize(slots);
    ring_ = std::move(larger);
  }

  // `queue_pair` may send from `eligible` on.
  void add(uint32_t queue_pair, dataplane::Instant eligible, dataplane::Instant now) {
    if (eligible <= now) {
      push(queue_pair);
    } else {
      waiting_.push(eligible, queue_pair);
    }
  }

  // From when on somebody may send; the time line's start when somebody stands in the ring.
  dataplane::Instant next() const { return head_ != tail_ ? dataplane::Instant{} : waiting_.next(); }

  // Whose turn is next, or an arbitrary number; for prefetching alone.
  uint32_t first() const { return head_ != tail_ ? ring_[head_ & (ring_.size() - 1)] : waiting_.first_id(); }

  // Whose turn it is at `now` ≥ next().
  uint32_t take(dataplane::Instant now) {
    while (waiting_.next() <= now) {
      const uint32_t due = waiting_.top_id();
      waiting_.pop();
      push(due);
    }
    return pop();
  }

  // Slow: for rare events. Those of whom leaves(queue pair) is true go to `other`, which has room for them, and the
  // rest keep their order. Who stands in a ring stands in a ring again.
  template <typename Leaves>
  void move_to(SendOrder& other, dataplane::Instant now, Leaves&& leaves) {
    for (uint32_t left = tail_ - head_; left != 0; --left) {
      const uint32_t queue_pair = pop();
      leaves(queue_pair) ? other.push(queue_pair) : push(queue_pair);
    }
    for (; !waiting_.empty(); waiting_.pop()) kept_.emplace_back(waiting_.next(), waiting_.top_id());
    for (const auto& [eligible, queue_pair] : kept_) {
      (leaves(queue_pair) ? other : *this).add(queue_pair, eligible, now);
    }
    kept_.clear();
  }

 private:
  void push(uint32_t queue_pair) { ring_[tail_++ & (ring_.size() - 1)] = queue_pair; }
  uint32_t pop() { return ring_[head_++ & (ring_.size() - 1)]; }

  dataplane::TimedHeap waiting_;
  std::vector<std::pair<dataplane::Instant, uint32_t>> kept_;  // while some of `waiting_` leave
  std::vector<uint32_t> ring_;                                 // a power of two
  uint32_t head_ = 0;
  uint32_t tail_ = 0;
};

}  // namespace softspine::testbeds
