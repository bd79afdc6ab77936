// SPDX-License-Identifier: Apache-2.0
// The UDP source port that Linux's drivers derive from the two QP numbers (rdma_calc_flow_label and
// rdma_flow_label_to_udp_sport): 49152 … 65535.
#pragma once

#include <cstdint>

namespace softspine::control {

constexpr uint16_t rxe_source_port(uint32_t source_qp, uint32_t destination_qp) {
  uint64_t v = uint64_t{source_qp} * destination_qp;
  v ^= v >> 20;
  v ^= v >> 40;
  const auto label = static_cast<uint32_t>(v & 0xfffff);
  return static_cast<uint16_t>(0xc000 | ((label & 0x3fff) ^ (label >> 14)));
}

}  // namespace softspine::control
