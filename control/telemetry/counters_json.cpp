// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/counters_json.hpp"

#include "control/telemetry/totals.hpp"

namespace softspine::control {

namespace {

using dataplane::DropReason;
using dataplane::PortCounters;
using dataplane::QueueCounters;

bool is_error(DropReason reason) {
  switch (reason) {
    case DropReason::kTruncated:
    case DropReason::kBadVersion:
    case DropReason::kBadChecksum:
    case DropReason::kBadLength:
    case DropReason::kOversize: return true;
    default: return false;
  }
}

Json port_json(const PortCounters& port) {
  const PortDiscards discards = discards_of(port);
  uint64_t marked = 0;
  for (const QueueCounters& queue : port.queues) marked += queue.ecn_marked_packets;
  Json out{{"SAI_PORT_STAT_IF_IN_OCTETS", port.rx_bytes},
           {"SAI_PORT_STAT_IF_IN_UCAST_PKTS", port.rx_unicast_packets()},
           {"SAI_PORT_STAT_IF_IN_MULTICAST_PKTS", port.rx_multicast_packets},
           {"SAI_PORT_STAT_IF_IN_BROADCAST_PKTS", port.rx_broadcast_packets},
           {"SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS", port.rx_multicast_packets + port.rx_broadcast_packets},
           {"SAI_PORT_STAT_IF_IN_DISCARDS", discards.in_discards},
           {"SAI_PORT_STAT_IF_IN_ERRORS", discards.in_errors},
           {"SAI_PORT_STAT_IF_OUT_OCTETS", port.tx_bytes},
           {"SAI_PORT_STAT_IF_OUT_UCAST_PKTS", port.tx_unicast_packets()},
           {"SAI_PORT_STAT_IF_OUT_MULTICAST_PKTS", port.tx_multicast_packets},
           {"SAI_PORT_STAT_IF_OUT_BROADCAST_PKTS", port.tx_broadcast_packets},
           {"SAI_PORT_STAT_IF_OUT_NON_UCAST_PKTS", port.tx_multicast_packets + port.tx_broadcast_packets},
           {"SAI_PORT_STAT_IF_OUT_DISCARDS", discards.out_discards},
           {"SAI_PORT_STAT_IF_OUT_QLEN", port.queued_packets()},
           {"SAI_PORT_STAT_ECN_MARKED_PACKETS", marked}};
  for (size_t i = 0; i < port.pfc_rx_packets.size(); ++i) {
    const std::string name = "SAI_PORT_STAT_PFC_" + std::to_string(i);
    add_key(out, name + "_RX_PKTS", port.pfc_rx_packets[i]);
    add_key(out, name + "_TX_PKTS", port.pfc_tx_packets[i]);
  }
  return out;
}

Json queue_json(const QueueCounters& queue) {
  return {{"SAI_QUEUE_STAT_PACKETS", queue.packets},
          {"SAI_QUEUE_STAT_BYTES", queue.bytes},
          {"SAI_QUEUE_STAT_DROPPED_PACKETS", queue.dropped_packets},
          {"SAI_QUEUE_STAT_DROPPED_BYTES", queue.dropped_bytes},
          {"SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", queue.ecn_marked_packets},
          {"SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES", queue.current_bytes},
          {"SAI_QUEUE_STAT_WATERMARK_BYTES", queue.watermark_bytes}};
}

}  // namespace

PortDiscards discards_of(const PortCounters& port) {
  PortDiscards out{.out_discards = port.queue_dropped_packets()};
  for (size_t i = 0; i < port.drops.size(); ++i) {
    const auto reason = static_cast<DropReason>(i);
    if (is_error(reason)) {
      out.in_errors += port.drops[i];
    } else if (is_loss(reason) && reason != DropReason::kQueueFull) {
      out.in_discards += port.drops[i];
    }
  }
  return out;
}

Json counters_json(const FabricSnapshot& snapshot) {
  Json out = Json::object();
  for (const SwitchSnapshot& node : snapshot.switches) {
    Json ports = Json::object();
    for (const PortSnapshot& port : node.ports) {
      add_key(ports, port.name, port_json(port.counters));
      for (size_t i = 0; i < port.counters.queues.size(); ++i) {
        add_key(ports, port.name + ":" + std::to_string(i), queue_json(port.counters.queues[i]));
      }
    }
    add_key(out, node.name, std::move(ports));
  }
  return out;
}

}  // namespace softspine::control
