// SPDX-License-Identifier: Apache-2.0
// The packets on their way to one node: a FIFO per port, and an order over the ports that are not empty.
//
// Takes packets out in the order of their arrival; at one instant, by port number. A port without packets costs
// nothing. Only the worker that owns the node writes here: packets from another worker pass through an Outbox first.
//
// Invariant: arrivals on one port never go back in time (a link is a FIFO).
#pragma once

#include <cstdint>
#include <memory>

#include "dataplane/link/arrivals.hpp"
#include "dataplane/packet/burst.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/prefetch.hpp"
#include "dataplane/units/time.hpp"
#include "dataplane/units/timed_row.hpp"

namespace softspine::dataplane {

// One cache line: what every delivery and every arrival touches.
class alignas(64) Inbox {
 public:
  // Before the node's first packet; ports are 0 … ports − 1.
  void resize(uint32_t ports) {
    ports_ = std::make_unique<Arrivals[]>(ports);
    count_ = ports;
    row_.reserve(ports);
  }
  uint32_t ports() const { return count_; }

  void push(PortNo port, Packet packet, Instant at) {
    Arrivals& arrivals = ports_[port.value()];
    if (arrivals.empty()) {
      if (at < row_.next()) first_packet_ = packet.mbuf();
      row_.push(at, port.value());
    }
    arrivals.push(std::move(packet), at);
  }

  // The same for a packet right behind one that was just pushed to the port.
  [[gnu::always_inline]] void push_behind(PortNo port, Packet packet, Instant at) {
    ports_[port.value()].push(std::move(packet), at);
  }

  // The port's place in memory: a sender prefetches it.
  const void* place_of(PortNo port) const { return &ports_[port.value()]; }
  // Prefetches the first packet and its place in memory, if both are known without a search.
  [[gnu::always_inline]] void prefetch_first() const {
    prefetch(&ports_[row_.top_id()]);
    if (first_packet_ != nullptr) Packet::prefetch(first_packet_);
  }

  // The first arrival still to come; never() when there is none.
  Instant next() const { return row_.next(); }
  // The last arrival known at a port, before which nothing more can arrive there; the fabric's start if there is
  // none.
  Instant last(PortNo port) const {
    const Arrivals& arrivals = ports_[port.value()];
    return arrivals.empty() ? Instant{} : arrivals.back_at();
  }

  // Slow, for observers only: calls see(glance) for each packet on its way to the port.
  template <typename See>
  void for_each(PortNo port, See&& see) const {
    ports_[port.value()].for_each(see);
  }

  // Appends arrivals before `until` to the burst, in order, until it is full.
  void take(Instant until, Burst& burst) {
    while (!burst.full() && row_.next() < until) take_run(until, burst);
  }

  // The earliest arrival. There must be one.
  Packet take_first() {
    const uint32_t port = row_.top_id();
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
    row_.remove(port.value());
    while (!arrivals.empty()) end(arrivals.pop(port.value()));
  }

 private:
  // Takes packets from the first port for as long as it stays first, so that the row is reordered once a run and not
  // once a packet.
  void take_run(Instant until, Burst& burst) {
    const uint32_t port = row_.top_id();
    Arrivals& arrivals = ports_[port];
    arrivals.pop_while(
        static_cast<uint16_t>(port), burst.room(), [&](Instant at) { return at < until && row_.stays_first(at); },
        [&burst](Packet packet) { burst.push(std::move(packet)); });
    reorder(arrivals);
  }
  // Restores the row's order after packets were taken from its first port.
  void reorder(const Arrivals& arrivals) {
    first_packet_ = nullptr;
    if (arrivals.empty()) return row_.pop();
    const uint32_t port = row_.top_id();
    row_.replace_top(arrivals.front_at());
    if (row_.top_id() == port) first_packet_ = arrivals.front();
  }

  std::unique_ptr<Arrivals[]> ports_;
  TimedRow row_;
  rte_mbuf* first_packet_ = nullptr;  // of the first port, if it is known without a look there; only for prefetching
  uint32_t count_ = 0;
};
static_assert(sizeof(Inbox) == kCacheLine);

}  // namespace softspine::dataplane
