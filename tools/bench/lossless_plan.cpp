// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/lossless_plan.hpp"

namespace softspine::tools {

using namespace dataplane;

namespace {

constexpr uint32_t kCell = 256;
constexpr uint32_t kPoolCells = (32U << 20) / kCell;
constexpr uint32_t kHeadroomCells = 700;  // 179 KB: 400 Gb/s over 200 m
constexpr uint8_t kLossless = 1 << 3 | 1 << 4;

PortBufferPlan port_buffer() {
  PortBufferPlan port;
  for (uint32_t i = 0; i < kPriorities; ++i) {
    port.groups[i] = {.reserved_cells = 4, .limit = SharedLimit::dynamic(0)};
    port.queues[i] = {.reserved_cells = 6, .limit = SharedLimit::dynamic(0)};
    if ((kLossless >> i & 1) == 0) continue;
    port.groups[i].lossless = true;
    port.groups[i].headroom_cells = kHeadroomCells;
    port.groups[i].xon_offset_cells = 36;
  }
  return port;
}

}  // namespace

std::shared_ptr<const QosPlan> lossless_plan(uint32_t ports) {
  QosPlan plan;
  plan.buffer.cell = CellSize{kCell};
  plan.buffer.ingress_pools = {{.shared_cells = kPoolCells, .headroom_cells = ports * 2 * kHeadroomCells}};
  plan.buffer.egress_pools = {{.shared_cells = kPoolCells, .headroom_cells = 0}};
  plan.buffer.ports.assign(ports + 1, port_buffer());
  plan.wred.push_back(
      {.mark = {.min_bytes = 1U << 20, .max_bytes = 2U << 20, .max_probability = WredLine::kCertain / 20},
       .drop = {.min_bytes = 1U << 20, .max_bytes = 2U << 20, .max_probability = WredLine::kCertain / 20}});
  plan.ports.resize(ports);
  for (PortQosPlan& port : plan.ports) {
    port.pfc_enabled = kLossless;
    for (QueueSchedule& queue : port.queues) queue = {.strict = false, .weight = 15, .shaper = {}, .wred = 1};
  }
  return std::make_shared<QosPlan>(std::move(plan));
}

void make_lossless(ForwardingState& state, uint8_t dscp) {
  state.qos.dscp_to_tc[dscp] = 3;
  state.plan = lossless_plan(static_cast<uint32_t>(state.ports.size()));
}

}  // namespace softspine::tools
