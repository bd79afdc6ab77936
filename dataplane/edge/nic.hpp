// SPDX-License-Identifier: Apache-2.0
// The NIC of a host that is outside: what stands between an edge (vhost-user, TAP, a device, a file) and its link.
// Every edge is one; it hands over what its outside brings, and takes what is for its outside.
//
//     outside ── take_in ──► by priority, oldest first ──► pause? ──► pace ──► link
//             │  ▲ not asked while the link is behind                 ▲ PFC frames go first
//             │  └──────────── what waits here fills it ◄── XOFF ─────┤
//             ▼                                                       │ more than `xoff_bytes` wait for the host
//     outside ◄── give ◄── pace ◄── MAC control ends here ◄───────────┴────── link
//
//   Who owns the packet. Outside: its own memory, until take_in(). Here: SendQueues, until the link. From the link:
//   this, until give(); what the outside does not take stays the edge's, who says how much that is (tell_held()).
//   Time. run() handles departures and arrivals in their order, each at its instant. poll() (wall clock) only hands
//   over, ready at that poll's `now`. A file's frames have instants of their own. So a pause is obeyed to the
//   picosecond however late the machine is; only when the outside is asked depends on it.
//
//   to the fabric     start = max(ready, port free), paused priorities left out; free again after the frame's time at
//                     the smaller of the link's rate and `rate`
//   the outside       is not asked while  (port free − now) + the time that waiting frames need  >  horizon
//                     A vhost-user ring and a file then hold the frames back, without loss. A TAP's or a packet
//                     socket's queue is the kernel's: it fills, and the kernel drops and counts. One ring means one
//                     queue: when a paused priority has filled the horizon, the others stand behind.
//   pauses obeyed     of the priorities in `pfc_enable`, after the response time of 802.3; others only count
//   to the outside    at `rate`, if that is less than the link's
//   pauses said       XOFF for `pfc_enable` when more than `xoff_bytes` wait for the host, XON when it is down to
//                     `xon_bytes`; frames of other priorities then end (edge_full), so that all that is left of
//                     `hold_bytes` is headroom
//   relaying          (`relays_pfc`) for a real adapter behind a device: its pauses go to the link and the
//                     link's to it, none is obeyed or said here. Their quanta are the sender's: both links want one
//                     rate
// PFC frames: the port's own MAC, 0xFFFF quanta, again before they lapse (flow_control/pfc_sender.hpp).
// DCQCN for a host that has none: edge/nic_congestion.hpp. What a host's packets get on their way:
// edge/roce_rewrite.hpp. A NIC without anything of all that to do is plain: frames go straight onto the link.
//
// Invariants: in_packets + waiting = taken in; nothing of a paused priority begins; order within a priority is kept.
// Sources: 802.1Qbb; 802.3 annex 31B.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/edge/edge_counters.hpp"
#include "dataplane/edge/nic_config.hpp"
#include "dataplane/edge/nic_counters.hpp"
#include "dataplane/edge/send_queues.hpp"
#include "dataplane/flow_control/port_flow_control.hpp"
#include "dataplane/link/node.hpp"
#include "dataplane/packet/pool.hpp"

namespace softspine::dataplane {

class NicCongestion;

class Nic : public Node {
 public:
  ~Nic() override;
  void link_changed(PortNo port, bool up, Instant now) noexcept override;

  const NicConfig& nic_config() const { return config_; }
  const EdgeCounters& counters() const { return counters_; }
  const NicCounters& nic_counters() const { return nic_counters_; }
  const PortFlowControl& flow_control() const { return flow_control_; }
  // What the outside had for us and dropped itself, as far as it says so. Slow.
  virtual uint64_t lost_outside() const { return 0; }
  // What the outside counts by itself (a driver, a vhost-user gate), by its own names. From an action; slow.
  virtual std::map<std::string, uint64_t> statistics() const { return {}; }
  // What has gone wrong with the outside since the start; only grows. From an action.
  const std::vector<EdgeFault>& faults() const { return faults_; }
  // Its interface was deleted: nobody will ever be there again.
  bool outside_is_gone() const { return outside_is_gone_; }
  // From an action, now and then: looks whether the outside is still there. Slow.
  virtual void look_outside(Instant now) noexcept { static_cast<void>(now); }
  // After the last window, before anyone asks what came of it: what is written is brought to its end.
  virtual void finish(Instant now) noexcept { static_cast<void>(now); }
  // Taken from the host and not yet on the link.
  uint64_t waiting_packets() const;
  // The same for the rate of their queue pairs alone.
  uint64_t kept_packets() const;
  // Arrived over the link and not yet handed out.
  virtual uint64_t waiting_for_outside() const { return draining_packets_; }

 protected:
  // `pool`: for the frames that it makes; outlives it.
  Nic(std::string name, const NicConfig& config, PacketPool& pool);

  // Events before `until`, in their order. `outside`:
  //   Instant next()                  when it brings a frame by itself; never() if it is polled
  //   void enter(Instant now)         then: it calls take_in()
  //   void give(Packet, Instant now)  a frame for the host
  template <typename Outside>
  Instant run_with(Instant until, Outside&& outside) noexcept {
    for (;;) {
      const Instant leaves = departure();
      const Instant enters = outside.next();
      const Instant drains = draining_.empty() ? Instant::never() : drained_at_;
      const Instant arrives = inbox().next();
      const Instant first = std::min(std::min(leaves, arrives), std::min(drains, enters));
      if (first >= until) return first;
      if (leaves == first) {
        depart(first);
      } else if (drains == first) {
        outside.give(take_drained(first), first);
      } else if (enters == first) {
        outside.enter(first);
      } else if (Packet packet = receive(inbox().take_first(), first)) {
        outside.give(std::move(packet), first);
      }
    }
  }

  // Nothing to do but to hand on: the edge may send by itself.
  bool is_plain() const { return is_plain_; }
  Rate rate() const {
    const Rate line = transmitter(PortNo{0}).rate();
    return config_.rate.is_zero() ? line : std::min(config_.rate, line);
  }
  // By how much the link is behind: what the host would wait for.
  Duration behind(Instant now) const {
    return (std::max(free_at_, now) - now) + rate().time_of_bytes(send_.bytes() + send_.packets() * kWireOverheadBytes);
  }
  bool is_behind(Instant now) const { return behind(now) > config_.horizon || keeps_too_much(); }
  bool is_busy(Instant now) const { return free_at_ > now || send_.packets() != 0; }
  // Each packet, when it is taken from the inbox.
  void count_arrival(const Packet& packet) noexcept {
    ++counters_.arrived_packets;
    counters_.arrived_flow_packets += packet.is_of_flow() ? 1 : 0;
  }
  // A frame from outside, ready at `now`; find_next() after the last of them.
  void take_in(Packet packet, Instant now) noexcept;
  void find_next() noexcept;
  // So much waits for the host with the edge.
  void tell_held(uint64_t bytes, Instant now) noexcept;
  uint64_t draining_bytes() const { return draining_bytes_; }
  // Outside run(): what has changed may have something leave earlier.
  void settle_and_wake(Instant now) noexcept {
    find_next();
    want_run(std::max(now, departure()));
  }
  // For look_outside(): the interface of that name was deleted. Once.
  void lose_outside(const std::string& interface, Instant now) noexcept;
  // Whoever has nothing to pace: a plain edge.
  Instant free_at() const { return free_at_; }
  void set_free_at(Instant at) { free_at_ = at; }
  // All that waits, either way.
  void end_waiting() noexcept;

  EdgeCounters counters_;
  PacketPool& pool_;
  std::vector<EdgeFault> faults_;
  bool outside_is_gone_ = false;

 private:
  Instant departure() const { return std::max(next_, free_at_); }
  void depart(Instant now) noexcept;
  Packet receive(Packet packet, Instant now) noexcept;
  Packet receive_mac_control(Packet packet, Instant now) noexcept;
  Packet take_drained(Instant now) noexcept;
  void drain_later(Packet packet, Instant now) noexcept;
  void send_pause(Instant now) noexcept;
  Packet next_of_host(uint8_t free, Instant now) noexcept;
  void hear(const Packet& packet, Instant now, bool& ends_here) noexcept;
  bool keeps_too_much() const;
  void transmit(Packet packet, Instant now) noexcept;
  void judge_held(Instant now) noexcept;
  void end_out(Packet packet, DropReason reason) noexcept;
  uint8_t priority_of(const Packet& parsed) const noexcept;

  NicConfig config_;
  bool is_plain_;
  bool is_full_ = false;             // more than xoff_bytes wait for the host
  Instant next_ = Instant::never();  // the first thing to do, but for a busy port
  Instant free_at_;
  SendQueues send_;
  std::unique_ptr<NicCongestion> congestion_;  // null: none
  SendQueues let_go_;                          // by their queue pairs' rates
  PacketList cnps_;
  uint8_t cnp_bit_ = 0;  // of their priority
  PortFlowControl flow_control_;
  PacketList draining_;  // to the host, at `rate`
  uint64_t draining_bytes_ = 0;
  uint64_t draining_packets_ = 0;
  Instant drained_at_;  // when its first one is through
  uint64_t held_bytes_ = 0;
  NicCounters nic_counters_;
};

}  // namespace softspine::dataplane
