// SPDX-License-Identifier: Apache-2.0
// How long a ToR believes what it knows of its hosts, and what it does with a packet for a host whose MAC it knows and
// whose port it does not.
//
// Two tables say where a host is: ARP (address → MAC) and the FDB ((VLAN, MAC) → port). They age apart:
//   ARP entry   refreshed by what the host says of itself in ARP and ND; older than `arp_timeout`: the packet is
//   dropped
//               (kNeighbourIncomplete), and the switch asks
//   FDB entry   refreshed by every frame of the host; older than `fdb_aging_time`, or its port's link has been down: a
//               miss
// With real timers (hours, minutes) there is a time in which the MAC is known and the port is not: a host that says
// nothing for minutes. A miss is handled by `UnicastMiss`:
//   kFlood          a copy to each other port of the VLAN, with all its class: lossless packets wait for ports that
//                   have nothing to do with them
//   kFloodAll       likewise, and by the ports that lead to other switches, whose routers drop it
//   kDropLossless   a packet of a priority with PFC is dropped (kNeighbourIncomplete), and the switch asks; others are
//                   flooded
//   kDrop           every packet is
// A host that neither table has an entry of counts as heard of at instant 0, when control placed it.
// Without ages (ForwardingState::ages) the port of a host is known as long as its link is there.
// Source: Guo et al., "RDMA over Commodity Ethernet at Scale", SIGCOMM 2016, section 4.2; the words are SAI's.
#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

enum class UnicastMiss : uint8_t { kFlood, kFloodAll, kDropLossless, kDrop };

struct NeighbourAges {
  Duration arp_timeout = Duration::s(4 * 3600);
  Duration fdb_aging_time = Duration::s(300);
  UnicastMiss fdb_unicast_miss = UnicastMiss::kFlood;
};

}  // namespace softspine::dataplane
