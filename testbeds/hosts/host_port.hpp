// SPDX-License-Identifier: Apache-2.0
// One port of a host: whose turn it is to send, what goes beside the queue pairs, and what keeps them from it.
//
// A queue pair stands in `order`, or, when its turn came while its priority was paused, in `parked` until the
// pause changes. Everything else that can happen at the port is folded into one instant, `beside`: so a port
// on which nothing but data moves asks one question more than if there were nothing else.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "dataplane/flow_control/port_flow_control.hpp"
#include "testbeds/hosts/control_queue.hpp"
#include "testbeds/hosts/receive_buffer.hpp"
#include "testbeds/hosts/send_order.hpp"

namespace softspine::testbeds {

struct HostPort {
  SendOrder order;
  dataplane::Instant free_at;
  // The earliest of: a PFC or credit frame due, a control packet ready, a pause that changes while somebody waits for
  // it.
  dataplane::Instant beside = dataplane::Instant::never();
  dataplane::PortFlowControl flow_control;
  std::array<uint32_t, dataplane::kPriorities> credited_cells{};  // in the receive buffer
  ControlQueue control;
  ReceiveBuffer buffer;
  uint8_t storm = 0;             // priorities
  std::vector<uint32_t> parked;  // flows
  uint32_t flows = 0;
  uint64_t rx_packets = 0;  // taken from its link

  // Room for one more flow; between windows.
  void make_room() {
    ++flows;
    order.reserve(flows);
    parked.reserve(flows);
  }
  dataplane::Instant departure() const { return std::max(std::min(order.next(), beside), free_at); }

  // After any change to control, flow_control or parked.
  void find_next() {
    const uint8_t blocked = flow_control.blocked();
    beside = std::min(flow_control.next_frame(), control.ready(blocked));
    if (!parked.empty() || (control.waiting() & blocked) != 0) beside = std::min(beside, flow_control.next_change());
  }
  // Its turn came, but its priority is blocked.
  void park(uint32_t flow) {
    parked.push_back(flow);
    find_next();
  }
  // A queue pair that had nothing to send may send from `eligible` on, as it turns out at `now`.
  void wake(uint32_t flow, dataplane::Instant eligible, dataplane::Instant now) {
    free_at = std::max(free_at, now);  // who stands in the ring counts as ready since ever
    order.add(flow, eligible, now);
  }
  // The pause may have changed by `now`: everybody who waits for that tries again.
  void reconsider(dataplane::Instant now) {
    (void)flow_control.advance(now);
    free_at = std::max(free_at, now);  // what waited has been ready for long
    for (const uint32_t flow : parked) wake(flow, now, now);
    parked.clear();
    find_next();
  }
};

}  // namespace softspine::testbeds
