// SPDX-License-Identifier: Apache-2.0
// How long a ToR keeps what it has learned of its hosts, and what it does with a packet for a host whose MAC it knows
// but whose port it does not.
//
// Two tables hold where a host is: ARP (address → MAC) and the FDB ((VLAN, MAC) → port). They age apart:
//   ARP entry   refreshed by every ARP or ND message of the host. A packet to a host whose entry is older than
//               `arp_timeout` is dropped (kNeighbourIncomplete), and the switch
//               sends a request for the address
//   FDB entry   refreshed by every frame of the host. An entry older than `fdb_aging_time`, or whose port's link has
//               been down, is a miss
// The FDB's timer is the shorter one (minutes, not hours): of a host that sends nothing for minutes the switch still
// knows the MAC, but no longer the port. Its `UnicastMiss` decides what it does with packets for that MAC:
//   kFlood          it sends a copy to each other port of the VLAN, in the packet's own class: so lossless packets can
//                   wait for the pauses of ports that they are not for
//   kFloodAll       likewise, and by the ports that lead to other switches, whose routers drop it
//   kDropLossless   a packet of a priority with PFC is dropped (kNeighbourIncomplete), and if it was routed the switch
//                   sends a request; others are flooded
//   kDrop           every packet is dropped
// A host without an entry in either table counts as if its last frame had come at instant 0, when control placed it.
// Without ages (ForwardingState::ages) the port of a host is known as long as its link is there.
// Source: Guo et al., "RDMA over Commodity Ethernet at Scale", SIGCOMM 2016, section 4.2; the words are SAI's.
#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

enum class UnicastMiss : uint8_t { kFlood, kFloodAll, kDropLossless, kDrop };

struct NeighbourAges {
  Duration arp_timeout = Duration::s(int64_t{4} * 3600);
  Duration fdb_aging_time = Duration::s(300);
  UnicastMiss fdb_unicast_miss = UnicastMiss::kFlood;
};

}  // namespace softspine::dataplane
