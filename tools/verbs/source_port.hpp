// SPDX-License-Identifier: Apache-2.0
// The UDP source port of a RoCEv2 queue pair, as Linux drivers derive it from the address handle's flow label
// (include/rdma/ib_verbs.h: rdma_get_udp_sport): a label of 0 stands for one made of both QP numbers; then
//   port = 0xC000 | ((label & 0x3FFF) ^ (label >> 14))
// So a label other than 0 pins the port, whatever the QP numbers are: what a driver with a fixed port does by itself.
#pragma once

#include <cstdint>

namespace softspine::tools {

inline constexpr uint32_t kLeastSourcePort = 0xC000;

constexpr uint16_t source_port_of(uint32_t flow_label, uint32_t qp, uint32_t peer_qp) {
  if (flow_label == 0) {
    uint64_t v = uint64_t{qp} * peer_qp;
    v ^= v >> 20;
    v ^= v >> 40;
    flow_label = static_cast<uint32_t>(v & 0xFFFFF);
  }
  return static_cast<uint16_t>(kLeastSourcePort | ((flow_label & 0x3FFF) ^ (flow_label >> 14)));
}

// A label, never 0, that makes this port of 49152 … 65535.
constexpr uint32_t flow_label_for(uint16_t port) {
  return 1U << 14 | ((port & 0x3FFFU) ^ 1U);
}

}  // namespace softspine::tools
