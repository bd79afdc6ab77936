// SPDX-License-Identifier: Apache-2.0
// A node: a switch, a nic, a host or an edge, as the engine sees it.
//
// A node belongs to one worker. It meets others only through its inbox and its transmitters.
//   run(until)  handles every event before `until` (arrivals, timers, departures) in the order of
//               time; at one instant timers and departures first, then arrivals by port number.
//               Returns the instant of its next event, never() if only an arrival can wake it.
//   poll(now)   edges on the wall clock: takes in what the outside has brought by `now`.
// Only the engine calls run() and poll(), and never both at once.
//
// A node is at the instant of the event that it handles: it says so by reach(), which never goes back, and its
// transmitters start no frame before. What was possible long ago, and comes to light in an event, happens at that
// event.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/link/inbox.hpp"
#include "dataplane/link/schedule.hpp"
#include "dataplane/link/transmitter.hpp"
#include "dataplane/units/check.hpp"
#include "dataplane/units/prefetch.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::dataplane {

class Node {
 public:
  Node(std::string name, uint32_t ports) : transmitters_(ports), name_(std::move(name)) {
    inbox_.resize(ports);
    for (Transmitter& transmitter : transmitters_) transmitter.follow(now_);
    read_by_arrival_.fill(this);  // nothing more, until a node says what
    read_by_departure_.fill(this);
  }
  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  virtual Instant run(Instant until) noexcept = 0;

  // Edges only: true if something came in or is waiting to go out, so the worker should not sleep.
  virtual bool poll(Instant) noexcept { return false; }
  virtual bool wants_poll() const { return false; }
  // Edges only: a file descriptor that becomes readable when the outside brings something. Such an edge is polled when
  // that has happened, and as long as poll() returns true. -1: none, it is polled always.
  virtual int poll_descriptor() const { return -1; }

  // The link at `port` went up or down at `now`. Called between windows.
  virtual void link_changed(PortNo, bool, Instant) noexcept {}

  // A node may put off what concerns nobody until somebody reads or changes it, and is not run for it. Called between
  // windows: when the first of that is due (never(): nothing is put off); and for nodes that do so, before any action,
  // to do what is due before `now`.
  virtual bool puts_off() const noexcept { return false; }
  virtual Instant first_put_off() const noexcept { return Instant::never(); }
  virtual void complete_before(Instant) noexcept {}

  // Ends every packet the node holds (not those in its inbox). Called after the last window.
  virtual void drain() noexcept {}

  const std::string& name() const { return name_; }
  NodeId id() const { return id_; }
  uint32_t ports() const { return inbox_.ports(); }
  Inbox& inbox() { return inbox_; }
  const Inbox& inbox() const { return inbox_; }
  Transmitter& transmitter(PortNo port) { return transmitters_[port.value()]; }
  const Transmitter& transmitter(PortNo port) const { return transmitters_[port.value()]; }

  // Delivers a packet that arrives at `port` at the instant `at`: from a link of the same worker, or out of an
  // outbox.
  void deliver(PortNo port, Packet packet, Instant at) {
    inbox_.push(port, std::move(packet), at);
    schedule_->wake(slot_, at);
  }

  // In a fabric of thousands no cache holds all nodes: the worker that runs a node soon prefetches it, in two steps:
  // the node, and then what its run will read, which depends on what it does next: take an arrival, or send. Where the
  // caches hold all nodes this would gain nothing, so it is not done.
  static constexpr size_t kCached = 256;
  bool is_cached() const { return is_cached_; }
  [[gnu::always_inline]] void prefetch_itself() const { prefetch(this, 6 * kCacheLine); }
  [[gnu::always_inline]] void prefetch_state() const {
    inbox_.prefetch_first();
    for (const void* place : inbox_.next().is_never() ? read_by_departure_ : read_by_arrival_) prefetch(place);
  }
  // Called by a sender that will soon call deliver().
  [[gnu::always_inline]] void prefetch_delivery() const {
    prefetch(&slot_);
    prefetch(&inbox_);
  }

  // Between windows: makes the node run at `at`, or earlier if it has an earlier event. It runs at the start in any
  // case.
  void wake(Instant at) {
    if (schedule_ != nullptr) schedule_->wake(slot_, at);
  }

  // The instant of the event that is handled, or was the last.
  Instant now() const { return now_; }
  // Before each event that may send: by the engine for the first of a run, then by the node.
  [[gnu::always_inline]] void reach(Instant now) {
    SOFTSPINE_CHECK(now >= now_, now.count_ps(), now_.count_ps());
    now_ = now;
  }

  // For the engine only.
  void set_cached(bool cached) { is_cached_ = cached; }
  void assign(NodeId id, Rng rng) {
    id_ = id;
    rng_ = rng;
  }
  ScheduleSlot& slot() { return slot_; }
  void attach(Schedule* schedule) { schedule_ = schedule; }

 protected:
  // Sets the cache lines that most runs of the node read: those that take an arrival, and the others. Between windows.
  // None may be null: a search for its page costs more than a line that is there.
  using Places = std::array<const void*, 12>;
  void set_read_by_run(const Places& arrival, const Places& departure) {
    read_by_arrival_ = arrival;
    read_by_departure_ = departure;
  }
  Rng& rng() { return rng_; }

 private:
  // A run touches the first three cache lines, a delivery the second and the third.
  Instant now_;
  std::vector<Transmitter> transmitters_;
  NodeId id_;
  bool is_cached_ = true;
  Rng rng_;

  Inbox inbox_;

  ScheduleSlot slot_{.node = this};
  Schedule* schedule_ = nullptr;

  alignas(kCacheLine) Places read_by_arrival_{};
  Places read_by_departure_{};
  std::string name_;
};

inline void Transmitter::connect(Node* peer, PortNo peer_port, Rate rate, Duration propagation) {
  peer_ = peer;
  peer_id_ = peer->id();
  peer_port_ = peer_port;
  place_at_peer_ = peer->inbox().place_of(peer_port);
  rate_ = rate;
  propagation_ = propagation;
  set_up(true);
}

[[gnu::always_inline]] inline void Transmitter::prefetch_peer() const {
  if (peer_ == nullptr) [[unlikely]]
    return;
  prefetch(place_at_peer_);
  peer_->prefetch_delivery();
}

inline Instant Transmitter::send(Packet packet, Instant start) noexcept {
  SOFTSPINE_CHECK(start >= *now_, start.count_ps(), now_->count_ps());
  const uint32_t bytes = packet.frame_bytes();
  const Instant left = start + rate_.time_of_frame(bytes);
  ++counters_.packets;
  counters_.bytes += bytes;
  if (is_direct_) [[likely]] {
    peer_->deliver(peer_port_, std::move(packet), left + propagation_);
  } else {
    send_watched_or_away(std::move(packet), left);
  }
  return left;
}

[[gnu::always_inline]] inline Instant Transmitter::send_behind(Packet packet, Instant start) noexcept {
  if (!is_direct_) [[unlikely]]
    return send(std::move(packet), start);
  const uint32_t bytes = packet.frame_bytes();
  const Instant left = start + rate_.time_of_frame(bytes);
  ++counters_.packets;
  counters_.bytes += bytes;
  peer_->inbox().push_behind(peer_port_, std::move(packet), left + propagation_);
  return left;
}

}  // namespace softspine::dataplane
