// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/show_tables.hpp"

#include <fmt/format.h>

#include "control/telemetry/counters_json.hpp"
#include "control/telemetry/text_table.hpp"
#include "control/telemetry/totals.hpp"

namespace softspine::control {

namespace {

using dataplane::DropCounters;
using dataplane::DropReason;

constexpr const char* kNothing = "-";

std::string microseconds(int64_t ps) {
  return fmt::format("{:.3f}", static_cast<double>(ps) * 1e-6);
}
std::string gigabits(double bps) {
  return fmt::format("{:.2f}", bps * 1e-9);
}
std::string percent(double share) {
  return fmt::format("{:.2f}", share * 100);
}

template <typename See>
void each_port(const FabricSnapshot& snapshot, std::string_view only_switch, See&& see) {
  for (const SwitchSnapshot& node : snapshot.switches) {
    if (!only_switch.empty() && node.name != only_switch) continue;
    for (const PortSnapshot& port : node.ports) see(node, port);
  }
}

void add_drops(TextTable& table, const std::string& place, const std::string& port, const DropCounters& drops) {
  for (size_t i = 0; i < drops.size(); ++i) {
    if (drops[i] == 0) continue;
    const auto reason = static_cast<DropReason>(i);
    table.add(
        {place, port, std::string{dataplane::name_of(reason)}, is_loss(reason) ? "yes" : "no", grouped(drops[i])});
  }
}

}  // namespace

std::string interfaces_table(const FabricSnapshot& snapshot, std::string_view only_switch) {
  TextTable table{{"<SWITCH", "<IFACE", "<STATE", "SPEED(Gb/s)", "RX_OK(pkts)", "RX_BYTES", "RX_ERR(pkts)",
                   "RX_DRP(pkts)", "TX_OK(pkts)", "TX_BYTES", "TX_DRP(pkts)"}};
  each_port(snapshot, only_switch, [&](const SwitchSnapshot& node, const PortSnapshot& port) {
    const PortDiscards discards = discards_of(port.counters);
    table.add({node.name, port.name, port.up ? "U" : "D",
               fmt::format("{:g}", static_cast<double>(port.rate.count_bps()) * 1e-9),
               grouped(port.counters.rx_packets), grouped(port.counters.rx_bytes), grouped(discards.in_errors),
               grouped(discards.in_discards), grouped(port.counters.tx_packets), grouped(port.counters.tx_bytes),
               grouped(discards.out_discards)});
  });
  return table.text();
}

std::string queues_table(const FabricSnapshot& snapshot, std::string_view only_switch) {
  TextTable table{{"<SWITCH", "<IFACE", "<QUEUE", "PASSED(pkts)", "PASSED(bytes)", "DROPPED(pkts)", "DROPPED(bytes)",
                   "ECN_MARKED(pkts)", "OCCUPANCY(bytes)", "WATERMARK(bytes)"}};
  each_port(snapshot, only_switch, [&](const SwitchSnapshot& node, const PortSnapshot& port) {
    for (size_t i = 0; i < port.counters.queues.size(); ++i) {
      const dataplane::QueueCounters& queue = port.counters.queues[i];
      if (queue.packets + queue.dropped_packets + queue.current_packets == 0) continue;
      table.add({node.name, port.name, "UC" + std::to_string(i), grouped(queue.packets), grouped(queue.bytes),
                 grouped(queue.dropped_packets), grouped(queue.dropped_bytes), grouped(queue.ecn_marked_packets),
                 grouped(queue.current_bytes), grouped(queue.watermark_bytes)});
    }
  });
  return table.text();
}

std::string drops_table(const FabricSnapshot& snapshot, std::string_view only_switch) {
  TextTable table{{"<NODE", "<IFACE", "<REASON", "<LOSS", "ENDED(pkts)"}};
  each_port(snapshot, only_switch, [&](const SwitchSnapshot& node, const PortSnapshot& port) {
    add_drops(table, node.name, port.name, port.counters.drops);
  });
  if (!only_switch.empty()) return table.text();
  for (const HostSnapshot& host : snapshot.hosts) add_drops(table, host.name, kNothing, host.counters.dropped);
  for (const EdgeSnapshot& edge : snapshot.edges) {
    add_drops(table, edge.key(), "in", edge.counters.in_drops);
    add_drops(table, edge.key(), "out", edge.counters.out_drops);
  }
  return table.text();
}

std::string hash_table(const FabricSnapshot& snapshot, std::string_view only_switch) {
  TextTable table{{"<SWITCH", "<ROLE", "FLOWLETS", "SHORT_KEYS(pkts)", "OVERRIDDEN(pkts)", "FELL_BACK(pkts)"}};
  for (const SwitchSnapshot& node : snapshot.switches) {
    if (!only_switch.empty() && node.name != only_switch) continue;
    table.add({node.name, node.role, grouped(node.flowlets), grouped(node.short_hash_keys), grouped(node.override_hits),
               grouped(node.override_fallbacks)});
  }
  return table.text();
}

std::string flows_table(const FabricSnapshot& snapshot) {
  TextTable table{{"<WORKLOAD", "FLOW", "<FROM", "<TO", "QP", "SENT(pkts)", "AGAIN(pkts)", "RECEIVED(pkts)",
                   "UNDER_WAY(pkts)", "MISSING(pkts)", "MESSAGES", "RATE(Gb/s)", "LATENCY_MEAN(us)", "LATENCY_MAX(us)",
                   "COMPLETION(us)", "ACKED(us)"}};
  for (const FlowSnapshot& flow : snapshot.flows) {
    const bool any = flow.latency.samples > 0;
    table.add({flow.workload, std::to_string(flow.id), flow.source, flow.destination,
               std::to_string(flow.destination_qp), grouped(flow.sent_packets),
               grouped(flow.reliable.retransmitted_packets), grouped(flow.received_packets), grouped(flow.under_way),
               grouped(flow.missing()), grouped(flow.received_messages), gigabits(flow.goodput_bps()),
               any ? microseconds(static_cast<int64_t>(flow.latency.mean_ps)) : kNothing,
               any ? microseconds(static_cast<int64_t>(flow.latency.max_ps)) : kNothing,
               flow.completion ? microseconds(flow.completion->count_ps()) : kNothing,
               flow.acked ? microseconds(flow.acked->count_ps()) : kNothing});
  }
  return table.text();
}

std::string nics_table(const FabricSnapshot& snapshot) {
  TextTable table{{"<HOST", "<IFACE", "<KIND", "SENT(pkts)", "RECEIVED(pkts)", "WAITING(pkts)", "PFC_RX", "PFC_TX",
                   "PAUSED(us)", "ECN_MARKED(pkts)", "CNP_SENT", "CNP_HANDLED", "HELD_BY_RATE(pkts)"}};
  for (const EdgeSnapshot& edge : snapshot.edges) {
    HostPauseSnapshot sum;
    for (const HostPauseSnapshot& pause : edge.pause) {
      sum.rx_frames += pause.rx_frames;
      sum.tx_frames += pause.tx_frames;
      sum.paused += pause.paused;
    }
    table.add({edge.name, edge.port, edge.kind, grouped(edge.counters.in_packets), grouped(edge.counters.out_packets),
               grouped(edge.waiting_packets), grouped(sum.rx_frames), grouped(sum.tx_frames),
               microseconds(sum.paused.count_ps()), grouped(edge.nic.np_ecn_marked_roce_packets),
               grouped(edge.nic.np_cnp_sent), grouped(edge.nic.rp_cnp_handled), grouped(edge.nic.held_by_rate)});
  }
  return table.text();
}

std::string links_table(const FabricSnapshot& snapshot) {
  TextTable table{{"<FROM", "<TO", "<STATE", "TX(pkts)", "TX(bytes)", "UTIL(%)", "UPLINK_SHARE(%)", "RX(pkts)",
                   "LOST(pkts)", "VANISHED(pkts)", "DAMAGED(pkts)"}};
  for (const LinkDirection& link : link_directions(snapshot)) {
    table.add({link.from, link.to, link.up ? "U" : "D", grouped(link.sent.packets), grouped(link.sent.bytes),
               percent(link.utilisation(snapshot.instant)), link.is_uplink ? percent(link.share) : kNothing,
               link.arrived ? grouped(*link.arrived) : kNothing, grouped(link.lost_packets()),
               grouped(link.sent.vanished_packets), grouped(link.sent.damaged_packets)});
  }
  return table.text();
}

}  // namespace softspine::control
