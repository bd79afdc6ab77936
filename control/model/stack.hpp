// SPDX-License-Identifier: Apache-2.0
// Two ToRs that are one system to the bonds of their hosts (MC-LAG, MLAG, vPC): a peer link joins them, and by
// keepalives each shows the other that its control plane lives. On failures: testbeds/run/stack_control.hpp.
//
//   keepalive_interval  keepalives are sent at every multiple of this interval, over the peer link and, with
//                       `management`, also over a management network between the two ToRs,
//                       which never fails
//   keepalive_timeout   the peer counts as lost when no keepalive has arrived for so long
//   hold_timeout        how long the switches wait after the loss of the peer link before they act on keepalives
//   delay_restore       how long the ports to hosts stay shut after the peer is back, or the switch itself
// The keys, their meanings and their defaults are those of Cisco's vPC (Nexus 9000 Series NX-OS Interfaces
// Configuration Guide, "Configuring vPCs": peer-keepalive interval, timeout, hold-timeout; delay restore).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/units/time.hpp"

namespace softspine::control {

struct Stack {
  std::string name;
  std::array<uint32_t, 2> switches{};  // nodes; the primary, then the secondary
  std::vector<uint32_t> peer_links;    // ascending
  bool management = true;
  dataplane::Duration keepalive_interval = dataplane::Duration::s(1);
  dataplane::Duration keepalive_timeout = dataplane::Duration::s(5);
  dataplane::Duration hold_timeout = dataplane::Duration::s(3);
  dataplane::Duration delay_restore = dataplane::Duration::s(30);
};

}  // namespace softspine::control
