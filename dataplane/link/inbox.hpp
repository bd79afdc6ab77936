// SPDX-License-Identifier: Apache-2.0
// What is on its way to one node: a FIFO per port and an order over the ports that have something.
//
// Takes packets out in the order of their arrival; at one instant, by port number. A port without
// packets costs nothing. Written by the worker that owns the node, and by nobody else: what comes
// from another worker passes through an Outbox first.
//
// Invariant: arrivals on one port never go back in time (a link is a FIFO).
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/link/arrivals.hpp"
#include "dataplane/packet/burst.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/time.hpp"
#include "dataplane/units/timed_heap.hpp"

namespace softspine::dataplane {

class Inbox {
 public:
  // Before the node's first packet; ports are 0 … ports − 1.
  void resize(uint32_t ports) {
    ports_.resize(ports);
    heap_.reserve(ports);
  }
  uint32_t ports() const { return static_cast<uint32_t>(ports_.size()); }

  void push(PortNo port, Packet packet, Instant at) {
    Arrivals& arrivals = ports_[port.value()];
    if (arrivals.empty()) heap_.push(at, port.value());
    arrivals.push(std::move(packet), at);
  }

  // The first arrival still to come; never() when there is none.
  Instant next() const { return heap_.next(); }
  // The last arrival that is known at a port; the fabric's start when there is none: nothing arrives there before it.
  Instant last(PortNo port) const {
    const Arrivals& arrivals = ports_[port.value()];
    return arrivals.empty() ? Instant{} : arrivals.back_at();
  }

  // Slow: for who only looks at what is on its way to a port. see(flow), once for each packet.
  template <typename See>
  void for_each(PortNo port, See&& see) const {
    ports_[port.value()].for_each(see);
  }

  // Appends arrivals before `until` to the burst, in order, until it is full.
  void take(Instant until, Burst& burst) {
    while (!burst.full() && heap_.next() < until) take_run(until, burst);
  }

  // The earliest arrival. There must be one.
  Packet take_first() {
    const uint32_t port = heap_.top_id();
    Arrivals& arrivals = ports_[port];
    Packet packet = arrivals.pop(static_cast<uint16_t>(port));
    reorder(arrivals);
    return packet;
  }

  // Empties one port (its link went down); the caller ends the packets.
  template <typename End>
  void flush(PortNo port, End&& end) {
    Arrivals& arrivals = ports_[port.value()];
    if (arrivals.empty()) return;
    heap_.remove(port.value());
    while (!arrivals.empty()) end(arrivals.pop(port.value()));
  }

 private:
  // From the port whose turn it is, as long as it stays its turn: the heap is put in order once a run, not once a
  // packet.
  void take_run(Instant until, Burst& burst) {
    const uint32_t port = heap_.top_id();
    Arrivals& arrivals = ports_[port];
    do {
      burst.push(arrivals.pop(static_cast<uint16_t>(port)));
    } while (!arrivals.empty() && !burst.full() && arrivals.front_at() < until &&
             heap_.stays_first(arrivals.front_at()));
    reorder(arrivals);
  }
  // After packets were taken from the port whose turn it was.
  void reorder(const Arrivals& arrivals) {
    if (arrivals.empty()) {
      heap_.pop();
    } else {
      heap_.replace_top(arrivals.front_at());
    }
  }

  std::vector<Arrivals> ports_;
  TimedHeap heap_;
};

}  // namespace softspine::dataplane
