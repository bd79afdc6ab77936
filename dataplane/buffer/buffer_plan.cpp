// SPDX-License-Identifier: Apache-2.0
#include "dataplane/buffer/buffer_plan.hpp"

namespace softspine::dataplane {

BufferPlan BufferPlan::plain_limits(uint32_t ports, const std::array<uint32_t, kQueues>& queue_limit_bytes) {
  BufferPlan plan;
  plan.ingress_pools = {{kUnlimitedCells, 0}};
  plan.egress_pools = {{kUnlimitedCells, 0}};
  PortBufferPlan port;
  for (PriorityGroupPlan& group : port.groups) group.limit = SharedLimit::fixed(kUnlimitedCells);
  for (uint32_t q = 0; q < kQueues; ++q) {
    port.queues[q].limit = SharedLimit::fixed(std::min(queue_limit_bytes[q], kUnlimitedCells));
  }
  plan.ports.assign(ports + 1, port);
  return plan;
}

}  // namespace softspine::dataplane
