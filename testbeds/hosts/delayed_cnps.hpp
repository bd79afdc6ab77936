// SPDX-License-Identifier: Apache-2.0
// CNPs that a port of a built-in host will send: the host takes `nic_delay` from the arrival of a marked packet until
// its CNP may leave (notification_point.hpp). Queue pairs may have delays of their own, so the CNPs are kept by the
// instants at which they are ready; at one instant the one that was made first goes first.
//
// Maximum: kLimit CNPs. Who pushes asks has_room() first, and counts what it has to drop. Memory is there after
// reserve_for().
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::testbeds {

class DelayedCnps {
 public:
  static constexpr size_t kLimit = 1024;

  struct Cnp {
    dataplane::Packet packet;
    uint8_t priority = 0;
  };

  // A queue pair has this delay.
  void reserve_for(dataplane::Duration delay) {
    if (delay > dataplane::Duration{}) heap_.reserve(kLimit);
  }
  bool has_room() const { return heap_.size() < kLimit; }
  bool empty() const { return heap_.empty(); }
  // When the first is ready; never() if there is none.
  dataplane::Instant next() const { return heap_.empty() ? dataplane::Instant::never() : heap_.front().ready; }

  // Needs has_room().
  void push(dataplane::Instant ready, Cnp cnp) {
    heap_.push_back({ready, made_++, std::move(cnp)});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  // The first. Needs one.
  Cnp pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    Cnp cnp = std::move(heap_.back().cnp);
    heap_.pop_back();
    return cnp;
  }

 private:
  struct Entry {
    dataplane::Instant ready;
    uint64_t number = 0;
    Cnp cnp;
  };
  static bool later(const Entry& a, const Entry& b) {
    return a.ready != b.ready ? a.ready > b.ready : a.number > b.number;
  }

  std::vector<Entry> heap_;
  uint64_t made_ = 0;
};

}  // namespace softspine::testbeds
