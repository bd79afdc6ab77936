// SPDX-License-Identifier: Apache-2.0
// Which queue pair sends next at a port. Queue pairs that may send now stand in a ring and take turns, a packet each.
// The others wait in a heap for the instant at which they may; at one instant the smaller index enters the ring first.
//
// A queue pair stands in exactly one of the two, or in neither: while it sends, or when it has nothing left to send.
// Cost: constant among thousands that send at line rate, logarithmic for those that are paced. All of it is one cache
// line as long as one stands in the ring and one waits.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dataplane/units/prefetch.hpp"
#include "dataplane/units/time.hpp"
#include "dataplane/units/timed_heap.hpp"

namespace softspine::testbeds {

class alignas(dataplane::kCacheLine) SendOrder {
 public:
  // Room for `count` queue pairs; between windows.
  void reserve(uint32_t count) {
    waiting_.reserve(count);
    if (ring_ != nullptr && count <= mask_ + 1) return;
    std::vector<uint32_t> standing;
    while (head_ != tail_) standing.push_back(pop());
    uint32_t slots = 4;
    while (slots < count) slots *= 2;
    ring_ = std::make_unique<uint32_t[]>(slots);
    kept_ = std::make_unique<Waiting[]>(slots);
    mask_ = slots - 1;
    for (const uint32_t queue_pair : standing) push(queue_pair);
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
  uint32_t first() const { return head_ != tail_ ? front_ : waiting_.top_id(); }

  // Whose turn it is at `now` ≥ next().
  uint32_t take(dataplane::Instant now) {
    if (head_ == tail_) {
      const uint32_t due = waiting_.top_id();
      waiting_.pop();
      if (waiting_.next() > now) [[likely]]
        return due;
      push(due);
    }
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
    uint32_t kept = 0;
    for (; !waiting_.empty(); waiting_.pop()) kept_[kept++] = {waiting_.next(), waiting_.top_id()};
    for (uint32_t i = 0; i < kept; ++i) {
      const auto [eligible, queue_pair] = kept_[i];
      (leaves(queue_pair) ? other : *this).add(queue_pair, eligible, now);
    }
  }

 private:
  struct Waiting {
    dataplane::Instant eligible;
    uint32_t queue_pair = 0;
  };
  void push(uint32_t queue_pair) {
    (head_ == tail_ ? front_ : ring_[tail_ & mask_]) = queue_pair;
    ++tail_;
  }
  uint32_t pop() {
    const uint32_t queue_pair = front_;
    if (++head_ != tail_) front_ = ring_[head_ & mask_];
    return queue_pair;
  }

  dataplane::TimedHeap waiting_;
  std::unique_ptr<uint32_t[]> ring_;  // a power of two of places; its first one is kept in front_ alone
  uint32_t mask_ = 0;
  uint32_t head_ = 0;
  uint32_t tail_ = 0;
  uint32_t front_ = 0;
  std::unique_ptr<Waiting[]> kept_;  // as many places, while some of `waiting_` leave
};
static_assert(sizeof(SendOrder) == dataplane::kCacheLine);

}  // namespace softspine::testbeds
