// SPDX-License-Identifier: Apache-2.0
#include "dataplane/egress/stuck_queue.hpp"

#include "dataplane/egress/egress.hpp"

namespace softspine::dataplane {

std::vector<StuckQueue> stuck_queues(const Egress& egress) {
  std::vector<StuckQueue> out;
  for (uint16_t number = 0; number < egress.ports(); ++number) {
    const PortNo port{number};
    const uint8_t stuck = egress.departures().stuck_queues(port);
    if (stuck == 0) continue;
    for (uint8_t priority = 0; priority < kPriorities; ++priority) {
      const auto queues = static_cast<uint8_t>(stuck & egress.plan().ports[number].queues_of_priority[priority]);
      if (queues == 0) continue;
      StuckQueue found{.port = port, .priority = Priority{priority}};
      for (uint32_t q = 0; q < kQueues; ++q) {
        if ((queues >> q & 1) != 0) found.sent_packets += egress.counters(port).queues[q].packets;
      }
      out.push_back(found);
    }
  }
  return out;
}

std::vector<PortNo> sources_of(const Egress& egress, PortNo port, Priority priority) {
  std::vector<bool> seen(egress.ports());
  for (uint32_t q = 0; q < kQueues; ++q) {
    if ((egress.plan().ports[port.value()].queues_of_priority[priority.value()] >> q & 1) == 0) continue;
    egress.departures().for_each_waiting(port, q, [&](const PacketGlance& packet) {
      if (packet.meta.in_port != kLocalPort) seen[packet.meta.in_port] = true;
    });
  }
  std::vector<PortNo> out;
  for (uint16_t i = 0; i < seen.size(); ++i) {
    if (seen[i]) out.push_back(PortNo{i});
  }
  return out;
}

}  // namespace softspine::dataplane
