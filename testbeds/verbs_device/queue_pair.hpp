// SPDX-License-Identifier: Apache-2.0
// A queue pair: what its program has set, its two rings, its two halves.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstdint>
#include <variant>

#include "control/traffic/rxe_source_port.hpp"
#include "testbeds/hosts/roce_headers.hpp"
#include "testbeds/verbs_device/receiver_state.hpp"
#include "testbeds/verbs_device/requester.hpp"
#include "testbeds/verbs_device/work_ring.hpp"

namespace softspine::testbeds {

// ::ffff:10.0.0.1 is IPv4.
inline IpAddress address_of_gid(const uint8_t* gid) {
  static constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(kMapped.begin(), kMapped.end(), gid)) return dataplane::load32(gid + kMapped.size());
  return dataplane::load_ipv6(gid);
}

// By flow label as ibv_flow_label_to_udp_sport has it; without one, by the kernel's rule.
inline uint16_t source_port_of(uint32_t flow_label, uint32_t own_qp, uint32_t remote_qp) {
  if (flow_label == 0) return control::rxe_source_port(own_qp, remote_qp);
  return static_cast<uint16_t>(0xc000 | ((flow_label & 0x3fff) ^ (flow_label >> 14 & 0x3f)));
}

struct QueuePair {
  // Frames that may wait in the NIC for the pair's rate or a pause, acknowledgements beside them: a real RNIC makes a
  // packet when its turn comes, so one that is asked for again does not stand behind hundreds that are not needed.
  static constexpr uint32_t kInNicLimit = 32;

  uint32_t number = 0;
  uint32_t client = 0;
  uint32_t pd = 0;
  uint32_t type = IBV_QPT_RC;
  uint32_t send_cq = 0;
  uint32_t receive_cq = 0;
  uint32_t srq = 0;  // handle + 1; 0: none
  bool signals_all = false;
  uint32_t port_mtu = IBV_MTU_4096;                           // of datagrams
  bool is_queued = false;                                     // to be asked for packets
  bool is_held_back = false;                                  // until the NIC keeps less
  uint32_t in_nic = 0;                                        // frames that have not left
  dataplane::Instant timer_at = dataplane::Instant::never();  // as the device has it in its heap
  QueueSizes sizes{};
  QueuePairAttributes attributes{};
  WorkRing sends;
  WorkRing receives;
  Requester requester;
  ReceiverState receiver;

  bool may_send() const { return attributes.state == IBV_QPS_RTS; }
  bool may_receive() const { return attributes.state == IBV_QPS_RTR || may_send(); }
  bool has_failed() const { return attributes.state == IBV_QPS_ERR; }
  bool is_reliable() const { return type == IBV_QPT_RC; }
  uint32_t mtu() const { return 128U << attributes.path_mtu; }

  // Of its peer, as a connected queue pair has it. For the hop limit the kernel takes the route's, whatever a program
  // has asked for.
  RoceAddress peer() const {
    return {.destination = address_of_gid(attributes.gid),
            .destination_qp = attributes.destination_qp,
            .source_port = source_port_of(attributes.flow_label, number, attributes.destination_qp),
            .dscp = static_cast<uint8_t>(attributes.traffic_class >> 2),
            .ecn = static_cast<uint8_t>(attributes.traffic_class & 3),
            .ttl = kResponseTtl,
            .flow_label = attributes.flow_label & 0xfffff};
  }
};

}  // namespace softspine::testbeds
