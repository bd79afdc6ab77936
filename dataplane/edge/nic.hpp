// SPDX-License-Identifier: Apache-2.0
// The NIC of a host that is not part of the fabric, between its "outside" (vhost-user, TAP, a device, a file) and its
// link. Every edge derives from it: the edge exchanges frames with the outside, the NIC with the link.
//
//     outside ── take_in ──► by priority, oldest first ──► pause? ──► pace ──► link
//             │  ▲ not polled while the link is behind                ▲ PFC frames go first
//             │  └──────────── what waits here fills it ◄── XOFF ─────┤
//             ▼                                                       │ more than `xoff_bytes` wait for the host
//     outside ◄── give ◄── pace ◄── MAC control ends here ◄───────────┴────── link
//
//   Ownership of the packet. To the fabric: the outside until take_in(), then SendQueues until it is on the link. From
//   the fabric: the NIC until give(), then the edge, which reports by report_held() how much the outside has not taken
//   yet. Time. run() handles departures and arrivals in their order, each at its instant. poll() (wall clock) only
//   hands frames over, ready at that poll's `now`; a file's frames have instants of their own. A pause is therefore
//   obeyed to the picosecond however late the machine is; only the instants of the polls depend on the machine.
//
//   to the fabric     start = max(ready, port free), paused priorities left out; free again after the frame's time at
//                     the smaller of the link's rate and `rate`
//   the outside       is not polled while  (port free − now) + the time that waiting frames need  >  horizon
//                     A vhost-user ring and a file then hold the frames back, without loss. A TAP's or a packet
//                     socket's queue is the kernel's: it fills, and the kernel drops and counts. One ring means one
//                     queue: when a paused priority has filled the horizon, the others wait behind it.
//   pauses obeyed     of the priorities in `pfc_enable`, after the response time of 802.3; others are only counted
//   to the outside    at `rate`, if that is less than the link's
//   pauses sent       XOFF for the priorities in `pfc_enable` when more than `xoff_bytes` wait for the host, XON at
//                     `xon_bytes`. In between, frames of other priorities end (edge_full), so that the rest of
//                     `hold_bytes` is headroom
//   relaying          (`relays_pfc`) for a real adapter behind a device: its pause frames go to the link and the
//                     link's to it; the NIC neither obeys nor sends any. Quanta are bit times of the sender's link, so
//                     both links should have the same rate
// Carrier. The outside sees carrier while the link is up. A separate thread sets it (give_carrier), since the kernel
// may block its caller; a change of the link wakes that thread. When the outside interface has lost its own carrier
// (set_outside_lost), the link goes down and the interface stays up: set down, it could not show that its carrier
// is back. PFC frames have the port's own MAC and 0xFFFF quanta, and are repeated before they lapse
// (flow_control/pfc_sender.hpp). edge/nic_congestion.hpp is DCQCN for a host that has none; edge/roce_rewrite.hpp
// rewrites fields of the host's packets. A NIC with none of this to do is plain: frames go straight onto the link.
//
// Invariants: in_packets + waiting = taken in; no frame of a paused priority begins; order within a priority is kept.
// Sources: 802.1Qbb; 802.3 annex 31B.
#pragma once

#include <algorithm>
#include <atomic>
#include <expected>
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
  // Frames for the fabric that the outside has dropped itself, as far as it reports them. Slow.
  virtual uint64_t lost_outside() const { return 0; }
  // The outside's own counters (a driver's, a vhost-user gate's), by its own names. Called from an action; slow.
  virtual std::map<std::string, uint64_t> statistics() const { return {}; }
  // Faults of the outside since the start; only grows. Called from an action.
  const std::vector<EdgeFault>& faults() const { return faults_; }
  // The outside's interface was deleted, or its device taken out: no peer will ever be there again.
  bool outside_is_gone() const { return outside_is_gone_; }
  // Whether packets went with it that nobody can give back: those in the rings of a device.
  virtual bool keeps_packets() const { return false; }
  // From an action, now and then: looks whether the outside is still there, and has carrier. Slow.
  virtual void look_outside(Instant now) noexcept { static_cast<void>(now); }
  // As of the last look_outside(). An interface that starts without carrier, not set up yet, has not lost it.
  bool outside_has_carrier() const { return outside_has_carrier_; }
  // From an action: whether the link is down because the outside has no carrier.
  void set_outside_lost(bool lost) noexcept;

  // Any thread: whether the outside should see carrier. When this changes, `bell` changes and wakes who waits on it.
  bool should_give_carrier() const noexcept { return should_give_carrier_.load(std::memory_order_acquire); }
  void set_carrier_bell(std::atomic<uint32_t>& bell) { carrier_bell_ = &bell; }
  // From the one thread that waits on the bell. The error: what the outside's system refused.
  std::expected<void, EdgeError> give_carrier(bool carrier);
  // Any thread, and a signal handler: the run is to end, and must not wait for an outside that takes nothing.
  virtual void end_soon() noexcept {}
  // After the last window, before results are read: completes what the edge writes (a file).
  virtual void finish(Instant now) noexcept { static_cast<void>(now); }
  // Taken from the host and not yet on the link.
  uint64_t waiting_packets() const;
  // Those of waiting_packets() that wait for nothing but the rate of their queue pair.
  uint64_t kept_packets() const;
  // Arrived over the link and not yet handed out.
  virtual uint64_t waiting_for_outside() const { return draining_packets_; }

 protected:
  // `pool`: for the frames that the NIC makes; outlives the NIC.
  Nic(std::string name, const NicConfig& config, PacketPool& pool);

  // Handles the events before `until`, in their order. `outside` has
  //   Instant next()                  when its next frame enters by itself; never() if the outside is polled
  //   void enter(Instant now)         called at that instant; it calls take_in()
  //   void give(Packet, Instant now)  takes a frame for the host
  // and may have
  //   void left(uint32_t sender, Instant now)  a frame of it begins to leave; `sender` as take_in() was given it
  template <typename Outside>
  Instant run_with(Instant until, Outside&& outside) noexcept {
    for (;;) {
      const Instant leaves = departure();
      const Instant enters = outside.next();
      const Instant drains = draining_.empty() ? Instant::never() : drained_at_;
      const Instant arrives = inbox().next();
      const Instant first = std::min(std::min(leaves, arrives), std::min(drains, enters));
      if (first >= until) return first;
      reach(first);
      if (leaves == first) {
        if (const uint32_t sender = depart(first); sender != 0) {
          if constexpr (requires { outside.left(sender, first); }) outside.left(sender, first);
        }
      } else if (drains == first) {
        outside.give(take_drained(first), first);
      } else if (enters == first) {
        outside.enter(first);
      } else if (Packet packet = receive(inbox().take_first(), first)) {
        outside.give(std::move(packet), first);
      }
    }
  }

  // The NIC only hands frames on, so the edge may send by itself.
  bool is_plain() const { return is_plain_; }
  Rate rate() const {
    const Rate line = transmitter(PortNo{0}).rate();
    return config_.parameters.rate.is_zero() ? line : std::min(config_.parameters.rate, line);
  }
  // How far the link is behind: how long a new frame of the host would wait.
  Duration behind(Instant now) const {
    return (std::max(free_at_, now) - now) + rate().time_of_bytes(send_.bytes() + send_.packets() * kWireOverheadBytes);
  }
  bool is_behind(Instant now) const { return behind(now) > config_.horizon || keeps_too_much(); }
  // More waits for the rates of queue pairs than the NIC has room for.
  bool keeps_too_much() const;
  bool is_busy(Instant now) const { return free_at_ > now || send_.packets() != 0; }
  // Called for each packet when it is taken from the inbox.
  void count_arrival(const Packet& packet) noexcept {
    ++counters_.arrived_packets;
    counters_.arrived_flow_packets += packet.is_of_flow() ? 1 : 0;
  }
  // Takes a frame from outside, ready at `now`. The caller calls find_next() after the last one. `sender`: for an
  // outside that wants to hear when it leaves; 0: not of this one. It stands in next_hop, which no switch has written
  // yet.
  void take_in(Packet packet, Instant now, uint32_t sender = 0) noexcept;
  void find_next() noexcept;
  // The edge reports how many bytes it holds for the host.
  void report_held(uint64_t bytes, Instant now) noexcept;
  uint64_t draining_bytes() const { return draining_bytes_; }
  // Called outside run(), after a change that may let a frame leave earlier.
  void find_next_and_wake(Instant now) noexcept {
    find_next();
    wake(std::max(now, departure()));
  }
  // For look_outside(): whether the outside's own end has carrier. Ignored while the NIC itself withholds carrier.
  void see_carrier(bool carrier) noexcept;
  void expect_no_carrier_yet() { has_had_carrier_ = false; }
  // Called by give_carrier(); by default it does nothing, for an outside that knows no carrier.
  virtual std::expected<void, EdgeError> show_carrier(bool carrier) {
    static_cast<void>(carrier);
    return {};
  }
  static constexpr const char* kInterfaceDeleted = "the interface was deleted";
  // For look_outside(): reports, once, that the outside is gone, and how.
  void lose_outside(EdgeError how, Instant now) noexcept;
  // For a plain edge, which sends by itself.
  Instant free_at() const { return free_at_; }
  void set_free_at(Instant at) { free_at_ = at; }
  // Ends all packets that wait, in either direction.
  void end_waiting() noexcept;

  EdgeCounters counters_;
  PacketPool& pool_;
  std::vector<EdgeFault> faults_;
  bool outside_is_gone_ = false;

 private:
  Instant departure() const { return std::max({next_, free_at_, now()}); }
  uint32_t depart(Instant now) noexcept;
  Packet receive(Packet packet, Instant now) noexcept;
  Packet receive_mac_control(Packet packet, Instant now) noexcept;
  Packet take_drained(Instant now) noexcept;
  void drain_later(Packet packet, Instant now) noexcept;
  void send_pause(Instant now) noexcept;
  Packet next_of_host(uint8_t free, Instant now) noexcept;
  bool inspect(const Packet& packet, Instant now) noexcept;
  Instant transmit(Packet packet, Instant now) noexcept;
  void update_xoff(Instant now) noexcept;
  void end_out(Packet packet, DropReason reason) noexcept;

  void update_carrier() noexcept;

  NicConfig config_;
  bool is_plain_;
  bool link_is_up_ = true;
  bool outside_is_lost_ = false;
  bool outside_has_carrier_ = true;
  bool has_had_carrier_ = true;
  std::atomic<bool> should_give_carrier_{true};
  std::atomic<bool> gives_carrier_{true};
  std::atomic<uint32_t>* carrier_bell_ = nullptr;
  bool is_full_ = false;             // more than xoff_bytes wait for the host
  Instant next_ = Instant::never();  // when the next frame leaves, unless the port is busy
  Instant free_at_;
  SendQueues send_;
  std::unique_ptr<NicCongestion> congestion_;  // null: none
  SendQueues released_;                        // frames that the rates of their queue pairs have released
  PacketList cnps_;
  uint8_t cnp_bit_ = 0;  // bit of the CNPs' priority
  PortFlowControl flow_control_;
  PacketList draining_;  // to the host, at `rate`
  uint64_t draining_bytes_ = 0;
  uint64_t draining_packets_ = 0;
  Instant drained_at_;  // when the first packet of draining_ is through
  uint64_t held_bytes_ = 0;
  NicCounters nic_counters_;
};

}  // namespace softspine::dataplane
