// SPDX-License-Identifier: Apache-2.0
// One port of a built-in host: which queue pair sends next, what is sent beside them, what keeps them from sending, and
// the receive buffer of a slow receiver.
//
//   order      queue pairs that may send, or will at an instant of their own (send_order.hpp)
//   parked     queue pairs whose turn came while flow control blocked their priority, or the port was closed; they try
//              again when that changes
//   closed     LACP has not agreed on the port, and the bond has no other: LACPDUs and the link's own frames leave
//   lacpdu     the latest that LACP has made, until it leaves: no pause holds it, and it is of this port alone
//   beside     when anything else is due: a PFC or credit frame, a LACPDU, a control packet (control_queue.hpp), or a
//              change of flow control that somebody waits for. All of it is folded into this one instant, so a port on
//              which nothing but data moves asks one question more than if there were nothing else
//   departure  max(port free, the earlier of order, which a gap may hold back, and beside). What has waited for a
//              pause, a port or another's turn has been ready for long: the host sends it at the instant at which it
//              is (Node::now), not before
//   buffer     packets that the host is too slow to take (receive_buffer.hpp). XOFF is raised for the priorities that
//              the buffer wants paused, and for those of a storm, a fault that pauses the neighbour without end. On a
//              link that goes by credit the buffer's cells are what is granted, and no XOFF is raised for them
//   delayed    CNPs that are not ready yet (delayed_cnps.hpp)
// The port's packets wait in `control`, `delayed` and `buffer`; they are counted by the host.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/flow_control/port_flow_control.hpp"
#include "dataplane/lacp/lacpdu.hpp"
#include "dataplane/link/transmitter.hpp"
#include "dataplane/packet/pool.hpp"
#include "dataplane/units/prefetch.hpp"
#include "testbeds/hosts/control_queue.hpp"
#include "testbeds/hosts/delayed_cnps.hpp"
#include "testbeds/hosts/host_config.hpp"
#include "testbeds/hosts/nic_watchdog.hpp"
#include "testbeds/hosts/receive_buffer.hpp"
#include "testbeds/hosts/send_order.hpp"
#include "testbeds/hosts/start_jitter.hpp"

namespace softspine::testbeds {

// A packet that leaves touches three cache lines: the first two and flow control's first; one that comes in the first.
// A control packet touches those of `parked` and its queue, too.
struct alignas(dataplane::kCacheLine) HostPort {
  dataplane::Transmitter* wire = nullptr;
  dataplane::Instant free_at;
  dataplane::Instant gap_until;  // no flow sends before; what goes beside does
  dataplane::Instant beside = dataplane::Instant::never();
  uint64_t rx_packets = 0;  // taken from its link
  StartJitter jitter;
  uint8_t closed = 0;  // all priorities, or none

  SendOrder order;

  std::vector<uint32_t> parked;  // flows
  dataplane::Packet lacpdu;
  ControlQueue control;

  dataplane::PortFlowControl flow_control;
  std::array<uint32_t, dataplane::kPriorities> credited_cells{};  // in the receive buffer
  ReceiveBuffer buffer;
  uint8_t storm = 0;     // priorities
  NicWatchdog watchdog;  // over the pauses of buffer and storm
  uint32_t flows = 0;
  DelayedCnps delayed;
  dataplane::Instant* due = nullptr;  // when the host acts beside departures and arrivals

  // Room for one more flow; between windows.
  void make_room() {
    ++flows;
    order.reserve(flows);
    parked.reserve(flows);
  }
  dataplane::Instant departure() const {
    return std::max(std::min(std::max(order.next(), gap_until), beside), free_at);
  }

  // A CNP that is ready at that instant. Needs room in `delayed`.
  void delay(dataplane::Packet cnp, uint8_t priority, dataplane::Instant ready) {
    delayed.push(ready, {std::move(cnp), priority});
    *due = std::min(*due, ready);
  }
  // After any change to control, flow_control or parked.
  void find_next() {
    const uint8_t blocked = flow_control.blocked() | closed;
    beside = std::min(flow_control.next_frame(), control.ready(blocked));
    if (lacpdu) [[unlikely]]
      beside = std::min(beside, lacpdu.meta().at);
    if (!parked.empty() || (control.waiting() & blocked) != 0) beside = std::min(beside, flow_control.next_change());
  }
  // The flow's turn came, but its priority is blocked.
  void park(uint32_t flow) {
    parked.push_back(flow);
    find_next();
  }
  // Queue pairs of whom leaves(flow) is true are the other port's from now on. Both have room for all of them.
  template <typename Leaves>
  void move_to(HostPort& other, dataplane::Instant now, Leaves&& leaves) {
    order.move_to(other.order, now, leaves);
    std::erase_if(parked, [&](uint32_t flow) {
      if (!leaves(flow)) return false;
      other.order.add(flow, now, now);
      return true;
    });
    find_next();
  }
  // Flow control may have changed by `now`: all that are parked try again.
  void reconsider(dataplane::Instant now) {
    (void)flow_control.advance(now);
    for (const uint32_t flow : parked) order.add(flow, now, now);
    parked.clear();
    find_next();
  }
  void make_deaf(uint8_t priorities, dataplane::Instant now) {
    flow_control.make_deaf(priorities, now);
    reconsider(now);
  }
  // The link's own: credit, or a pause, which is obeyed. Returns how the frame ends.
  dataplane::DropReason take_own_frame(const dataplane::Packet& frame) noexcept;
  void set_closed(bool is_closed, dataplane::Instant now) noexcept;
  // There is no packet to send: the port tries again a little later.
  void retry_later(dataplane::Instant now) {
    constexpr dataplane::Duration kRetry = dataplane::Duration::us(1);
    free_at = now + kRetry;
  }

  // Once. `due_of_host`: its earliest instant, which the port makes earlier; `rng`: for the jitter.
  void connect(dataplane::Transmitter& to, dataplane::Instant& due_of_host, const HostConfig& host,
               dataplane::Rng& rng);
  void link_changed(bool up, dataplane::Instant now) noexcept;
  // It takes the place of one that waits. Without memory for it none is sent: the next one is due in a period.
  void put_lacpdu(const dataplane::Lacpdu& pdu, const dataplane::MacAddress& source, dataplane::PacketPool& pool,
                  dataplane::Instant now) noexcept;
  // A PFC or a credit frame. Without memory for it the port tries again a little later. Returns whether it was PFC.
  bool send_own_frame(const dataplane::MacAddress& source, dataplane::PacketPool& pool,
                      dataplane::Instant now) noexcept;
  // Begins to send what goes beside the flows at `now`, where flow control has nothing to send: a LACPDU, else a
  // control packet.
  void send_control(const HostConfig& host, dataplane::Instant now) noexcept;
  // What waits in `control` is the other port's from now on. Returns how many packets found no room there: they end.
  uint32_t move_control_to(HostPort& other, dataplane::Instant now) noexcept;
  // CNPs that are ready by `now` wait in the `control` of the port by which the host answers. Returns how many found no
  // room there: they end.
  uint32_t queue_ready_cnps(HostPort& out, dataplane::Instant now) noexcept;
  // Of the port's number in `host`. The room that is granted by credit is the receive buffer's, or for each of its
  // priorities a share of it.
  void plan_flow_control(const HostConfig& host, uint32_t number, dataplane::Instant now) noexcept;
  // XOFF as buffer and storm want it now.
  void adjust_pause(dataplane::Instant now) noexcept;
  // Pauses these priorities at the neighbour without end; 0 falls silent, and the neighbour goes on when its time runs
  // out.
  void set_storm(uint8_t priorities, dataplane::Instant now) noexcept;
  // If the watchdog fires now, the port falls silent.
  bool watch(dataplane::Instant now) noexcept;
  // A slow receiver from now on, or no longer.
  void receive_slowly(const std::optional<SlowReceiver>& slow, dataplane::Instant now);
  // When its buffer, watchdog or delayed CNPs need the host to act.
  dataplane::Instant due_itself() const { return std::min({buffer.next(), watchdog.due(), delayed.next()}); }
  // Ends what waits, after the last window.
  void drain() noexcept;
  // The packet whose time in the buffer is over: the host has it at `now`.
  dataplane::Packet take_buffered(dataplane::Instant now) noexcept;
};
static_assert(offsetof(HostPort, order) == dataplane::kCacheLine);
static_assert(offsetof(HostPort, parked) == 2 * dataplane::kCacheLine);

}  // namespace softspine::testbeds
