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

#include "dataplane/packet/burst.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/time.hpp"
#include "dataplane/units/timed_heap.hpp"

namespace softspine::dataplane {

class Inbox {
 public:
  // Before the node's first packet; ports are 0 … ports − 1.
  void resize(uint32_t ports) {
    lists_.resize(ports);
    heap_.reserve(ports);
  }
  uint32_t ports() const { return static_cast<uint32_t>(lists_.size()); }

  void push(PortNo port, Packet packet, Instant at) {
    PacketMeta& meta = packet.meta();
    meta.at = at;
    meta.in_port = port.value();
    PacketList& list = lists_[port.value()];
    if (list.empty()) heap_.push(at, port.value());
    list.push(std::move(packet));
    ++waiting_;
  }

  // The first arrival still to come; never() when there is none.
  Instant next() const { return heap_.next(); }
  uint64_t waiting() const { return waiting_; }
  // The last arrival that is known at a port; the fabric's start when there is none: nothing arrives there before it.
  Instant last(PortNo port) const {
    const PacketList& list = lists_[port.value()];
    return list.empty() ? Instant{} : list.back().at;
  }

  // Appends arrivals before `until` to the burst, in order, until it is full.
  void take(Instant until, Burst& burst) {
    while (!burst.full() && heap_.next() < until) take_run(until, burst);
  }

  // The earliest arrival. There must be one.
  Packet take_first() {
    PacketList& list = lists_[heap_.top_id()];
    Packet packet = list.pop();
    if (list.empty()) {
      heap_.pop();
    } else {
      heap_.replace_top(list.front().at);
      list.prefetch_front();
    }
    --waiting_;
    return packet;
  }

  // Empties one port (its link went down); the caller ends the packets.
  template <typename End>
  void flush(PortNo port, End&& end) {
    PacketList& list = lists_[port.value()];
    if (list.empty()) return;
    heap_.remove(port.value());
    while (!list.empty()) {
      --waiting_;
      end(list.pop());
    }
  }

 private:
  // From the port whose turn it is, as long as it stays its turn: the order is settled once a run, not once a packet.
  void take_run(Instant until, Burst& burst) {
    PacketList& list = lists_[heap_.top_id()];
    const uint32_t before = burst.size();
    do {
      burst.push(list.pop());
      list.prefetch_front();
    } while (!list.empty() && !burst.full() && list.front().at < until && heap_.stays_first(list.front().at));
    waiting_ -= burst.size() - before;
    if (list.empty()) {
      heap_.pop();
    } else {
      heap_.replace_top(list.front().at);
    }
  }

  std::vector<PacketList> lists_;
  TimedHeap heap_;
  uint64_t waiting_ = 0;
};

}  // namespace softspine::dataplane
