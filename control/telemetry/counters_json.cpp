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

// SAI has no such links. InfiniBand's PortXmitWait, by priority and in time.
void add_credit(Json& out, const CreditSnapshot& credit) {
  add_key(out, "CREDIT_RX_FRAMES", credit.rx_frames);
  add_key(out, "CREDIT_TX_FRAMES", credit.tx_frames);
  for (size_t i = 0; i < credit.waited.size(); ++i) {
    if (credit.waited[i] == dataplane::Duration{}) continue;
    add_key(out, "CREDIT_" + std::to_string(i) + "_WAIT_US",
            static_cast<uint64_t>(credit.waited[i].count_ps()) / 1'000'000);
  }
}

Json port_json(const PortSnapshot& snapshot) {
  const PortCounters& port = snapshot.counters;
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
  for (size_t i = 0; i < snapshot.pauses.size(); ++i) {
    const std::string name = "SAI_PORT_STAT_PFC_" + std::to_string(i);
    add_key(out, name + "_RX_PKTS", snapshot.pauses[i].rx_frames);
    add_key(out, name + "_TX_PKTS", snapshot.pauses[i].tx_frames);
    add_key(out, name + "_ON2OFF_RX_PKTS", snapshot.pauses[i].on_to_off);
    add_key(out, name + "_RX_PAUSE_DURATION_US", static_cast<uint64_t>(snapshot.pauses[i].time.count_ps()) / 1'000'000);
  }
  if (snapshot.credit) add_credit(out, *snapshot.credit);
  return out;
}

Json group_json(const GroupSnapshot& group) {
  return {{"SAI_INGRESS_PRIORITY_GROUP_STAT_CURR_OCCUPANCY_BYTES", group.held_bytes()},
          {"SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_CURR_OCCUPANCY_BYTES", group.shared_bytes},
          {"SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES", group.shared_watermark_bytes},
          {"SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_CURR_OCCUPANCY_BYTES", group.headroom_bytes},
          {"SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES", group.headroom_watermark_bytes},
          {"SAI_INGRESS_PRIORITY_GROUP_STAT_PACKETS", group.packets},
          {"SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS", group.dropped_packets}};
}

Json pool_json(const PoolSnapshot& pool) {
  return {{"SAI_BUFFER_POOL_STAT_CURR_OCCUPANCY_BYTES", pool.reserved_bytes + pool.shared_bytes},
          {"SAI_BUFFER_POOL_STAT_WATERMARK_BYTES", pool.watermark_bytes},
          {"SAI_BUFFER_POOL_STAT_XOFF_ROOM_CURR_OCCUPANCY_BYTES", pool.headroom_bytes},
          {"SAI_BUFFER_POOL_STAT_XOFF_ROOM_WATERMARK_BYTES", pool.headroom_watermark_bytes}};
}

Json queue_json(const PortSnapshot& port, size_t number) {
  const QueueCounters& queue = port.counters.queues[number];
  Json out{{"SAI_QUEUE_STAT_PACKETS", queue.packets},
           {"SAI_QUEUE_STAT_BYTES", queue.bytes},
           {"SAI_QUEUE_STAT_DROPPED_PACKETS", queue.dropped_packets},
           {"SAI_QUEUE_STAT_DROPPED_BYTES", queue.dropped_bytes},
           {"SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", queue.ecn_marked_packets},
           {"SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES", queue.current_bytes},
           {"SAI_QUEUE_STAT_WATERMARK_BYTES", queue.watermark_bytes}};
  if (!port.buffers) return out;
  const QueueBufferSnapshot& buffer = port.buffers->queues[number];
  add_key(out, "SAI_QUEUE_STAT_SHARED_CURR_OCCUPANCY_BYTES", buffer.shared_bytes);
  add_key(out, "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES", buffer.shared_watermark_bytes);
  return out;
}

}  // namespace

PortDiscards discards_of(const PortCounters& port) {
  PortDiscards out{.out_discards = port.queue_dropped_packets()};
  for (size_t i = 0; i < port.drops.size(); ++i) {
    const auto reason = static_cast<DropReason>(i);
    if (is_error(reason)) {
      out.in_errors += port.drops[i];
    } else if (is_loss(reason) && !is_of_queue(reason)) {
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
      add_key(ports, port.name, port_json(port));
      for (size_t i = 0; i < port.counters.queues.size(); ++i) {
        add_key(ports, port.name + ":" + std::to_string(i), queue_json(port, i));
      }
      for (size_t i = 0; port.buffers && i < port.buffers->groups.size(); ++i) {
        add_key(ports, port.name + "|PG" + std::to_string(i), group_json(port.buffers->groups[i]));
      }
    }
    for (const PoolSnapshot& pool : node.pools) add_key(ports, pool.name, pool_json(pool));
    add_key(out, node.name, std::move(ports));
  }
  return out;
}

Json counters_with(const Json& counters, std::string_view prefix) {
  Json out = Json::object();
  for (const auto& [node, things] : counters.items()) {
    Json kept = Json::object();
    for (const auto& [thing, values] : things.items()) {
      for (const auto& [name, value] : values.items()) {
        if (name.starts_with(prefix)) kept[thing][name] = value;
      }
    }
    add_key(out, node, std::move(kept));
  }
  return out;
}

}  // namespace softspine::control
