// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/prometheus.hpp"

#include "control/telemetry/exposition.hpp"
#include "control/telemetry/totals.hpp"
#include "control/telemetry/workload_totals.hpp"

namespace softspine::control {

namespace {

using dataplane::DropCounters;
using dataplane::PortCounters;
using dataplane::QueueCounters;
using Type = Exposition::Type;

constexpr double kSecondsPerPs = 1e-12;

std::string_view reason_name(size_t index) {
  return dataplane::name_of(static_cast<dataplane::DropReason>(index));
}

template <typename See>
void each_port(const FabricSnapshot& snapshot, See&& see) {
  for (const SwitchSnapshot& node : snapshot.switches) {
    for (const PortSnapshot& port : node.ports) see(node, port);
  }
}

template <typename Value>
void port_family(Exposition& out, const FabricSnapshot& snapshot, std::string_view name, Type type,
                 std::string_view help, Value&& value) {
  out.family(name, type, help);
  each_port(snapshot, [&](const SwitchSnapshot& node, const PortSnapshot& port) {
    out.sample({{"switch", node.name}, {"port", port.name}}, static_cast<uint64_t>(value(port)));
  });
}

struct PortField {
  std::string_view name;
  std::string_view help;
  uint64_t PortCounters::* value;
};
constexpr PortField kPortFields[] = {
    {"softspine_port_rx_packets_total", "Frames that arrived at the port.", &PortCounters::rx_packets},
    {"softspine_port_rx_bytes_total", "Bytes of frames that arrived, without FCS.", &PortCounters::rx_bytes},
    {"softspine_port_tx_packets_total", "Frames that left by the port.", &PortCounters::tx_packets},
    {"softspine_port_tx_bytes_total", "Bytes of frames that left, without FCS.", &PortCounters::tx_bytes},
    {"softspine_port_made_packets_total", "Frames that the switch made itself.", &PortCounters::made_packets},
};

struct QueueField {
  std::string_view name;
  Type type;
  std::string_view help;
  uint64_t QueueCounters::* value;
};
constexpr QueueField kQueueFields[] = {
    {"softspine_queue_packets_total", Type::kCounter, "Frames that left the queue for the wire.",
     &QueueCounters::packets},
    {"softspine_queue_bytes_total", Type::kCounter, "Bytes that left the queue for the wire.", &QueueCounters::bytes},
    {"softspine_queue_dropped_packets_total", Type::kCounter, "Frames that the queue refused.",
     &QueueCounters::dropped_packets},
    {"softspine_queue_dropped_bytes_total", Type::kCounter, "Bytes that the queue refused.",
     &QueueCounters::dropped_bytes},
    {"softspine_queue_ecn_marked_packets_total", Type::kCounter, "Frames marked CE.",
     &QueueCounters::ecn_marked_packets},
    {"softspine_queue_occupancy_bytes", Type::kGauge, "Bytes in the queue.", &QueueCounters::current_bytes},
    {"softspine_queue_watermark_bytes", Type::kGauge, "Most bytes that were ever in the queue.",
     &QueueCounters::watermark_bytes},
};

void add_pfc(Exposition& out, const FabricSnapshot& snapshot, std::string_view name, std::string_view help,
             uint64_t PauseSnapshot::* field) {
  out.family(name, Type::kCounter, help);
  each_port(snapshot, [&](const SwitchSnapshot& node, const PortSnapshot& port) {
    for (size_t i = 0; i < port.pauses.size(); ++i) {
      out.sample({{"switch", node.name}, {"port", port.name}, {"priority", std::to_string(i)}}, port.pauses[i].*field);
    }
  });
}

void add_ports(Exposition& out, const FabricSnapshot& snapshot) {
  port_family(out, snapshot, "softspine_port_up", Type::kGauge, "1 if the port's link is up.",
              [](const PortSnapshot& port) { return port.up; });
  port_family(out, snapshot, "softspine_port_speed_bytes", Type::kGauge,
              "Rate of the port's link, in bytes per second.",
              [](const PortSnapshot& port) { return port.rate.count_bps() / 8; });
  for (const PortField& field : kPortFields) {
    port_family(out, snapshot, field.name, Type::kCounter, field.help,
                [&](const PortSnapshot& port) { return port.counters.*field.value; });
  }
  out.family("softspine_port_dropped_packets_total", Type::kCounter,
             "Frames that came in by the port and ended in the switch, by reason.");
  each_port(snapshot, [&](const SwitchSnapshot& node, const PortSnapshot& port) {
    for (size_t i = 0; i < port.counters.drops.size(); ++i) {
      if (port.counters.drops[i] == 0) continue;
      out.sample({{"switch", node.name}, {"port", port.name}, {"reason", reason_name(i)}}, port.counters.drops[i]);
    }
  });
  add_pfc(out, snapshot, "softspine_port_pfc_rx_packets_total", "PFC frames received that name the priority.",
          &PauseSnapshot::rx_frames);
  add_pfc(out, snapshot, "softspine_port_pfc_tx_packets_total", "PFC frames sent that name the priority.",
          &PauseSnapshot::tx_frames);
}

void add_hashing(Exposition& out, const FabricSnapshot& snapshot) {
  out.family("softspine_switch_short_hash_keys_total", Type::kCounter,
             "Frames that ended before a UDF of their hash key did, hashed by what was there.");
  for (const SwitchSnapshot& node : snapshot.switches) out.sample({{"switch", node.name}}, node.short_hash_keys);
  out.family("softspine_switch_flowlets_total", Type::kCounter, "Flowlets begun.");
  for (const SwitchSnapshot& node : snapshot.switches) out.sample({{"switch", node.name}}, node.flowlets);
}

void add_tables(Exposition& out, const FabricSnapshot& snapshot) {
  out.family("softspine_switch_fdb_evictions_total", Type::kCounter, "MAC addresses forgotten for others.");
  for (const SwitchSnapshot& node : snapshot.switches) out.sample({{"switch", node.name}}, node.fdb_evictions);
  out.family("softspine_switch_neighbour_refusals_total", Type::kCounter, "Neighbours that there was no room for.");
  for (const SwitchSnapshot& node : snapshot.switches) out.sample({{"switch", node.name}}, node.neighbour_refusals);
  out.family("softspine_route_changes_total", Type::kCounter, "Switches that got new routes.");
  out.sample({}, uint64_t{snapshot.route_changes});
}

void add_queues(Exposition& out, const FabricSnapshot& snapshot) {
  for (const QueueField& field : kQueueFields) {
    out.family(field.name, field.type, field.help);
    each_port(snapshot, [&](const SwitchSnapshot& node, const PortSnapshot& port) {
      for (size_t i = 0; i < port.counters.queues.size(); ++i) {
        out.sample({{"switch", node.name}, {"port", port.name}, {"queue", std::to_string(i)}},
                   port.counters.queues[i].*field.value);
      }
    });
  }
}

void add_links(Exposition& out, const FabricSnapshot& snapshot) {
  out.family("softspine_link_up", Type::kGauge, "1 if the link is up.");
  for (const LinkSnapshot& link : snapshot.links) out.sample({{"a", link.a}, {"b", link.b}}, uint64_t{link.up});
  out.family("softspine_link_lost_packets_total", Type::kCounter,
             "Frames sent while the link was down, or under way when it went down.");
  const std::vector<LinkDirection> ways = link_directions(snapshot);
  for (const LinkDirection& way : ways) out.sample({{"from", way.from}, {"to", way.to}}, way.lost_packets());
  out.family("softspine_link_vanished_packets_total", Type::kCounter, "Frames that a faulty cable lost.");
  for (const LinkDirection& way : ways) {
    out.sample({{"from", way.from}, {"to", way.to}}, way.sent.vanished_packets);
  }
  out.family("softspine_link_damaged_packets_total", Type::kCounter, "Frames that a faulty cable damaged: FCS errors.");
  for (const LinkDirection& way : ways) out.sample({{"from", way.from}, {"to", way.to}}, way.sent.damaged_packets);
}

struct HostField {
  std::string_view name;
  std::string_view help;
  uint64_t HostSnapshot::* value;
};
constexpr HostField kHostFields[] = {
    {"softspine_host_rx_packets_total", "Frames that arrived at the host.", &HostSnapshot::received_packets},
    {"softspine_host_rx_bytes_total", "Bytes of frames that arrived, without FCS.", &HostSnapshot::received_bytes},
    {"softspine_host_delivered_packets_total", "RoCE packets delivered to a queue pair.",
     &HostSnapshot::delivered_packets},
};

void add_hosts(Exposition& out, const FabricSnapshot& snapshot) {
  for (const HostField& field : kHostFields) {
    out.family(field.name, Type::kCounter, field.help);
    for (const HostSnapshot& host : snapshot.hosts) out.sample({{"host", host.name}}, host.*field.value);
  }
  out.family("softspine_host_dropped_packets_total", Type::kCounter, "Frames that ended at the host, by reason.");
  for (const HostSnapshot& host : snapshot.hosts) {
    for (size_t i = 0; i < host.dropped.size(); ++i) {
      if (host.dropped[i] > 0) out.sample({{"host", host.name}, {"reason", reason_name(i)}}, host.dropped[i]);
    }
  }
  out.family("softspine_host_packet_latency_seconds", Type::kSummary,
             "From the first bit sent to the last bit received, of packets delivered.");
  for (const HostSnapshot& host : snapshot.hosts) {
    const LatencySummary& latency = host.latency;
    if (latency.p50_ps)
      out.sample({{"host", host.name}, {"quantile", "0.5"}}, static_cast<double>(*latency.p50_ps) * kSecondsPerPs);
    if (latency.p99_ps)
      out.sample({{"host", host.name}, {"quantile", "0.99"}}, static_cast<double>(*latency.p99_ps) * kSecondsPerPs);
    const double sum = static_cast<double>(latency.mean_ps) * static_cast<double>(latency.samples) * kSecondsPerPs;
    out.sum_and_count({{"host", host.name}}, sum, latency.samples);
  }
}

struct WorkloadField {
  std::string_view name;
  Type type;
  std::string_view help;
  uint64_t WorkloadTotals::* value;
};
constexpr WorkloadField kWorkloadFields[] = {
    {"softspine_workload_flows", Type::kGauge, "Flows of the workload.", &WorkloadTotals::flows},
    {"softspine_workload_tx_packets_total", Type::kCounter, "RoCE packets sent.", &WorkloadTotals::sent_packets},
    {"softspine_workload_tx_bytes_total", Type::kCounter, "Payload bytes sent.", &WorkloadTotals::sent_bytes},
    {"softspine_workload_rx_packets_total", Type::kCounter, "RoCE packets received.",
     &WorkloadTotals::received_packets},
    {"softspine_workload_rx_bytes_total", Type::kCounter, "Payload bytes received.", &WorkloadTotals::received_bytes},
    {"softspine_workload_missing_packets_total", Type::kCounter,
     "RoCE packets sent that neither arrived nor are under way.", &WorkloadTotals::missing},
    {"softspine_workload_under_way_packets", Type::kGauge, "RoCE packets on links, in queues and receive buffers.",
     &WorkloadTotals::under_way},
};

void add_workloads(Exposition& out, const FabricSnapshot& snapshot) {
  const std::vector<WorkloadTotals> workloads = totals_by(snapshot, &FlowSnapshot::workload);
  for (const WorkloadField& field : kWorkloadFields) {
    out.family(field.name, field.type, field.help);
    for (const WorkloadTotals& each : workloads) out.sample({{"workload", each.name}}, each.*field.value);
  }
  out.family("softspine_workload_completed_flows", Type::kGauge, "Flows whose last message has arrived.");
  for (const WorkloadTotals& each : workloads) {
    out.sample({{"workload", each.name}}, static_cast<uint64_t>(each.completion_ps.size()));
  }
}

struct EdgeField {
  std::string_view name;
  std::string_view help;
  uint64_t dataplane::EdgeCounters::* value;
};
constexpr EdgeField kEdgeFields[] = {
    {"softspine_edge_in_packets_total", "Frames from outside.", &dataplane::EdgeCounters::in_packets},
    {"softspine_edge_in_bytes_total", "Bytes from outside.", &dataplane::EdgeCounters::in_bytes},
    {"softspine_edge_out_packets_total", "Frames that the outside took.", &dataplane::EdgeCounters::out_packets},
    {"softspine_edge_out_bytes_total", "Bytes that the outside took.", &dataplane::EdgeCounters::out_bytes},
};

void add_edge_drops(Exposition& out, const EdgeSnapshot& edge, std::string_view direction, const DropCounters& drops) {
  for (size_t i = 0; i < drops.size(); ++i) {
    if (drops[i] == 0) continue;
    out.sample({{"edge", edge.name}, {"kind", edge.kind}, {"direction", direction}, {"reason", reason_name(i)}},
               drops[i]);
  }
}

void add_edges(Exposition& out, const FabricSnapshot& snapshot) {
  for (const EdgeField& field : kEdgeFields) {
    out.family(field.name, Type::kCounter, field.help);
    for (const EdgeSnapshot& edge : snapshot.edges) {
      out.sample({{"edge", edge.name}, {"kind", edge.kind}}, edge.counters.*field.value);
    }
  }
  out.family("softspine_edge_dropped_packets_total", Type::kCounter, "Frames that ended at the edge, by reason.");
  for (const EdgeSnapshot& edge : snapshot.edges) {
    add_edge_drops(out, edge, "in", edge.counters.in_drops);
    add_edge_drops(out, edge, "out", edge.counters.out_drops);
  }
}

void add_outside_statistics(Exposition& out, const FabricSnapshot& snapshot) {
  out.family("softspine_edge_outside_total", Type::kCounter, "What the outside counts by itself, by its own names.");
  for (const EdgeSnapshot& edge : snapshot.edges) {
    for (const auto& [name, count] : edge.statistics) {
      out.sample({{"edge", edge.name}, {"port", edge.port}, {"kind", edge.kind}, {"statistic", name}}, count);
    }
  }
}

void add_engine(Exposition& out, const FabricSnapshot& snapshot) {
  out.family("softspine_emulated_seconds", Type::kGauge, "How far the fabric's time has come.");
  out.sample({}, snapshot.instant.seconds());
  uint64_t errors = 0;
  for (const RunError& each : snapshot.errors) errors += each.count;
  out.family("softspine_errors_total", Type::kCounter, "What went wrong while the fabric ran; show fabric says what.");
  out.sample({}, errors);
  out.family("softspine_engine_windows_total", Type::kCounter, "Windows that the engine has run.");
  out.sample({}, snapshot.engine.windows);
  out.family("softspine_engine_lateness_seconds", Type::kSummary, "How late windows were handled; wall clock only.");
  const dataplane::Histogram& lateness = snapshot.engine.lateness_ps;
  out.sample({{"quantile", "0.5"}}, static_cast<double>(lateness.quantile(0.5)) * kSecondsPerPs);
  out.sample({{"quantile", "0.99"}}, static_cast<double>(lateness.quantile(0.99)) * kSecondsPerPs);
  out.sum_and_count({}, lateness.mean() * static_cast<double>(lateness.count()) * kSecondsPerPs, lateness.count());
}

void add_all(Exposition& out, const FabricSnapshot& snapshot) {
  add_engine(out, snapshot);
  add_ports(out, snapshot);
  add_hashing(out, snapshot);
  add_tables(out, snapshot);
  add_queues(out, snapshot);
  add_pauses_and_buffers(out, snapshot);
  add_links(out, snapshot);
  add_hosts(out, snapshot);
  add_workloads(out, snapshot);
  add_edges(out, snapshot);
  add_outside_statistics(out, snapshot);
}

}  // namespace

std::string prometheus_text(const FabricSnapshot& snapshot) {
  Exposition out;
  add_all(out, snapshot);
  return out.take();
}

void put_prometheus_pages(const FabricSnapshot& snapshot, const Exposition::PutPage& put) {
  Exposition out{put};
  add_all(out, snapshot);
  std::string rest = out.take();
  if (!rest.empty()) put(std::move(rest));
}

}  // namespace softspine::control
