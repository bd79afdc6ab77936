// SPDX-License-Identifier: Apache-2.0
// The sending end of one direction of a link: rate, propagation, and where it leads.
//
//   start = max(ready, port free)      left = start + time_of_frame      arrives = left + propagation
//
// The owner keeps `free_at`; the transmitter turns a start into a departure and an arrival.
// Invariant, checked in every build: no frame starts before the instant at which its node is (Node::now).
// A packet sent into a link that is down, or taken by the link's fault, is counted here and ends here.
#pragma once

#include <cstdint>
#include <memory>

#include "dataplane/link/link_counters.hpp"
#include "dataplane/link/link_fault.hpp"
#include "dataplane/link/outbox.hpp"
#include "dataplane/link/tap.hpp"
#include "dataplane/packet/loss_buffer.hpp"
#include "dataplane/packet/pool.hpp"
#include "dataplane/units/rate.hpp"

namespace softspine::dataplane {

class Node;

class alignas(64) Transmitter {
 public:
  // The engine wires it up; `outbox` is null when both ends belong to one worker. (In node.hpp: it needs the peer.)
  void connect(Node* peer, PortNo peer_port, Rate rate, Duration propagation);
  // Its node's, which outlives it.
  void follow(const Instant& now) { now_ = &now; }
  void route_through(Outbox* outbox) {
    outbox_ = outbox;
    choose_path();
  }
  void set_up(bool up) {
    up_ = up;
    choose_path();
  }
  // Null: a good cable.
  void set_fault(std::unique_ptr<LinkFault> fault) {
    fault_ = std::move(fault);
    choose_path();
  }
  // Frames in this direction are lost while the link stays up, so that neither end notices.
  void set_dead(bool dead) {
    dead_ = dead;
    choose_path();
  }
  void set_tap(Tap* tap) {
    tap_ = tap;
    choose_path();
  }

  // Prefetches what send() will touch at the peer. (In node.hpp, as send().)
  void prefetch_peer() const;
  bool connected() const { return peer_ != nullptr; }
  bool up() const { return up_; }
  Rate rate() const { return rate_; }
  Duration propagation() const { return propagation_; }
  Node* peer() const { return peer_; }
  PortNo peer_port() const { return peer_port_; }
  const LinkCounters& counters() const { return counters_; }

  // Between windows. Null: no loss is recorded any more. The buffer outlives this object, or is removed before. `node`,
  // `port`: what the records name as the sender.
  void record_losses(LossBuffer* losses, uint32_t node, uint16_t port) {
    losses_ = losses;
    node_in_losses_ = node;
    port_in_losses_ = port;
  }

  // Between windows: ends a packet that was under way when the link went down; counts a frame injected behind this
  // end.
  void cut(Packet packet, Instant now) noexcept;
  void count_injected() { ++counters_.injected_packets; }

  // Puts the packet on the wire at `start`; returns when its last bit has left. (In node.hpp: it needs the peer.)
  Instant send(Packet packet, Instant start) noexcept;
  // The same for a packet behind one that the caller has just sent, before it does anything else.
  Instant send_behind(Packet packet, Instant start) noexcept;

 private:
  void choose_path() { is_direct_ = up_ && !dead_ && outbox_ == nullptr && tap_ == nullptr && fault_ == nullptr; }
  void send_watched_or_away(Packet packet, Instant left) noexcept;
  // Decides whether and how the link loses a packet, and counts the loss; kDropped: not lost, the packet arrives.
  LossKind fate() noexcept;
  void end(Packet packet, LossKind kind, Instant at) noexcept;

  // What every packet needs, in one cache line, to the first two counters.
  Node* peer_ = nullptr;
  const Instant* now_ = nullptr;
  Rate rate_;
  Duration propagation_;
  PortNo peer_port_;
  bool up_ = false;
  bool dead_ = false;
  bool is_direct_ = false;  // packets go straight into the peer's inbox: one test each instead of three
  LinkCounters counters_;
  const void* place_at_peer_ = nullptr;  // where packets for it are kept; to be prefetched
  Outbox* outbox_ = nullptr;
  Tap* tap_ = nullptr;
  std::unique_ptr<LinkFault> fault_;
  LossBuffer* losses_ = nullptr;
  uint32_t node_in_losses_ = 0;
  uint16_t port_in_losses_ = 0;
  NodeId peer_id_;  // for messages: the peer itself is in another worker's cache
};

}  // namespace softspine::dataplane
