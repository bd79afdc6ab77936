// SPDX-License-Identifier: Apache-2.0
#include "control/report/report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "control/report/nic_ports.hpp"
#include "control/report/port_rows.hpp"
#include "control/report/section_parts.hpp"
#include "control/report/sections.hpp"
#include "control/report/slowdown_json.hpp"
#include "control/telemetry/audit.hpp"
#include "control/telemetry/counter_parts.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/losses.hpp"
#include "control/telemetry/totals.hpp"
#include "control/telemetry/workload_totals.hpp"

namespace softspine::control {

namespace {

using dataplane::DropReason;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json{};
}

uint64_t whole(double value) {
  return static_cast<uint64_t>(std::llround(value));
}

// Six places: enough to read, and few enough to look the same everywhere.
double rounded(double share) {
  return std::round(share * 1e6) / 1e6;
}

void add_latency(Json& out, const std::string& name, const LatencySummary& latency) {
  const bool any = latency.samples > 0;
  add_key(out, name + "_min_ps", any ? Json(latency.min_ps) : Json{});
  add_key(out, name + "_mean_ps", any ? Json(latency.mean_ps) : Json{});
  add_key(out, name + "_p50_ps", or_null(latency.p50_ps));
  add_key(out, name + "_p99_ps", or_null(latency.p99_ps));
  add_key(out, name + "_max_ps", any ? Json(latency.max_ps) : Json{});
}

// Adds completion times: of the last data bit at the receiver, and of the last acknowledgement at the sender.
void add_completions(Json& out, const std::string& name, const std::vector<int64_t>& times) {
  add_key(out, name + "_min_ps", or_null(quantile_of(times, 0)));
  add_key(out, name + "_p50_ps", or_null(quantile_of(times, 0.5)));
  add_key(out, name + "_p99_ps", or_null(quantile_of(times, 0.99)));
  add_key(out, name + "_max_ps", or_null(quantile_of(times, 1)));
}

// The tables' values for the owner's report, of the parts that `wanted` names.
template <typename... Wanted, typename Owner, typename... Parts>
void add_counters(Json& out, const Owner& owner, const std::vector<Counter<Parts...>>& counters) {
  for (const auto& counter : counters) {
    if (counter.facts.report.empty() || !(std::holds_alternative<Read<Wanted>>(counter.read) || ...)) continue;
    add_key(out, std::string{counter.facts.report}, total_of(owner, counter));
  }
}

Json workload_json(const WorkloadTotals& totals) {
  Json out = Json::object();
  add_counters<WorkloadTotals>(out, totals, workload_counters());
  add_completions(out, "fct", totals.completion_ps);
  add_completions(out, "fct_acked", totals.acked_ps);
  add_key(out, "rate_bps", whole(totals.rate_bps()));
  add_key(out, "flow_rate_min_bps", whole(totals.flow_rate_min_bps));
  add_key(out, "flow_rate_max_bps", whole(totals.flow_rate_max_bps));
  add_latency(out, "latency", totals.latency);
  add_counters<ReliableCounts>(out, totals.reliable, reliable_counters());
  if (totals.listed) add_key(out, "slowdown", slowdown_json(totals));
  return out;
}

Json switch_json(const SwitchSnapshot& node) {
  const SwitchTotals totals = totals_of(node);
  Json out{{"role", node.role}};
  add_counters<PortSnapshot, QueueOf, PauseSnapshot, CreditSnapshot, CreditOf, PriorityGroupSnapshot, PoolSnapshot>(
      out, node, switch_counters());
  add_key(out, "balanced", totals.imbalance() == 0 && node.buffer_imbalances.empty());
  add_key(out, "buffer_imbalances", node.buffer_imbalances.empty() ? Json{} : Json(node.buffer_imbalances));
  add_counters<SwitchSnapshot>(out, node, switch_counters());
  if (Json pools = pools_json(node); !pools.empty()) add_key(out, "pools", std::move(pools));
  add_key(out, "dropped_packets", dropped_packets(totals.drops));
  add_key(out, "drops", drops_json(totals.drops));
  return out;
}

// The priorities that any pause frame has named, by port.
void add_pauses(Json& out, const std::string& port, const HostPauses& pauses) {
  Json priorities = Json::object();
  for (size_t i = 0; i < pauses.size(); ++i) {
    if (!pauses[i].any()) continue;
    Json row = Json::object();
    for (const HostCounter& counter : host_counters()) {
      const auto* read = std::get_if<Read<HostPauseSnapshot>>(&counter.read);
      if (read != nullptr) add_key(row, std::string{counter.facts.row_name()}, *(*read)(pauses[i]));
    }
    add_key(priorities, std::to_string(i), std::move(row));
  }
  if (!priorities.empty()) add_key(out, port, std::move(priorities));
}

Json pause_json(const HostSnapshot& host) {
  Json out = Json::object();
  for (const HostPortSnapshot& port : host.ports) add_pauses(out, port.name, port.pause);
  return out;
}

// Little's law: what waits on its way to a host is, on average, the rate at which bytes arrive times how long each has
// waited, which is its packet's latency above the least of the flow's.
uint64_t waiting_mean_bytes(const WorkloadTotals& receives, dataplane::Instant now) {
  return now == dataplane::Instant{} ? 0 : whole(receives.waited_byte_ps / static_cast<double>(now.count_ps()));
}

Json host_json(const HostSnapshot& host, const WorkloadTotals& sends, const WorkloadTotals& receives) {
  Json out = Json::object();
  add_counters<HostPortSnapshot, HostSnapshot>(out, host, host_counters());
  add_key(out, "rate_bps", whole(receives.rate_bps()));
  add_key(out, "sent_rate_bps", whole(sends.rate_bps()));
  add_latency(out, "latency", host.latency);
  add_latency(out, "message_latency", host.message_latency);
  add_latency(out, "completion", host.completion);
  add_counters<HostPauseSnapshot, CreditOf>(out, host, host_counters());
  add_key(out, "pause", pause_json(host));
  add_key(out, "dropped_packets", dropped_packets(host.counters.dropped));
  add_key(out, "drops", drops_json(host.counters.dropped));
  return out;
}

Json edge_json(const EdgeSnapshot& edge) {
  Json pause = Json::object();
  add_pauses(pause, edge.port, edge.pause);
  Json out{{"kind", edge.kind}};
  add_counters<EdgeSnapshot, HostPauseSnapshot>(out, edge, edge_counters());
  add_key(out, "pause", std::move(pause));
  add_key(out, "statistics", edge.statistics);
  add_key(out, "in_drops", drops_json(edge.counters.in_drops));
  add_key(out, "out_drops", drops_json(edge.counters.out_drops));
  return out;
}

}  // namespace

Json switches_json(const FabricSnapshot& snapshot) {
  Json out = Json::object();
  for (const SwitchSnapshot& node : snapshot.switches) add_key(out, node.name, switch_json(node));
  return out;
}

Json hosts_json(const FabricSnapshot& snapshot, const IdleParts* left_out) {
  const auto sends = totals_by(snapshot, &FlowSnapshot::source);
  const auto receives = totals_by(snapshot, &FlowSnapshot::destination);
  const auto of = [](const std::vector<WorkloadTotals>& all, const std::string& name) {
    const auto found = std::ranges::lower_bound(all, name, {}, &WorkloadTotals::name);
    return found != all.end() && found->name == name ? *found : WorkloadTotals{};
  };
  const NicPorts ports(snapshot);
  Json out = Json::object();
  for (const HostSnapshot& host : snapshot.hosts) {
    if (left_out != nullptr && left_out->hosts.contains(host.name)) continue;
    Json each = host_json(host, of(sends, host.name), of(receives, host.name));
    add_key(each, "waiting_mean_bytes", waiting_mean_bytes(of(receives, host.name), snapshot.instant));
    if (Json two = ports.of(host); !two.empty()) add_key(each, "ports", std::move(two));
    add_key(out, host.name, std::move(each));
  }
  return out;
}

Json edges_json(const FabricSnapshot& snapshot) {
  Json out = Json::object();
  for (const EdgeSnapshot& edge : snapshot.edges) add_key(out, edge.key(), edge_json(edge));
  return out;
}

Json totals_json(const FabricSnapshot& snapshot) {
  const SwitchTotals switches = totals_of(snapshot.switches);
  WorkloadTotals flows;
  for (const FlowSnapshot& flow : snapshot.flows) flows.add(flow);
  uint64_t lost = 0;
  uint64_t vanished = 0;
  uint64_t damaged = 0;
  for (const LinkDirection& link : link_directions(snapshot)) {
    lost += link.lost_packets();
    vanished += link.sent.vanished_packets;
    damaged += link.sent.damaged_packets;
  }
  dataplane::DropCounters drops = switches.drops;
  const auto add_drops = [&drops](const dataplane::DropCounters& more) {
    for (size_t i = 0; i < drops.size(); ++i) drops[i] += more[i];
  };
  for (const HostSnapshot& host : snapshot.hosts) add_drops(host.counters.dropped);
  for (const EdgeSnapshot& edge : snapshot.edges) {
    add_drops(edge.counters.in_drops);
    add_drops(edge.counters.out_drops);
  }
  const std::vector<std::string> imbalances = audit(snapshot);
  return {{"flows", flows.flows},
          {"completed", flows.completion_ps.size()},
          {"stalled_flows", flows.stalled_flows},
          {"cut_off_flows", flows.cut_off_flows},
          {"sent_packets", flows.sent_packets},
          {"sent_bytes", flows.sent_bytes},
          {"received_packets", flows.received_packets},
          {"received_bytes", flows.received_bytes},
          {"missing_packets", flows.missing},
          {"under_way_packets", flows.under_way},
          {"rate_bps", whole(flows.rate_bps())},
          {"switched_packets", switches.tx_packets},
          {"held_packets", switches.held_packets},
          {"lost_on_links", lost},
          {"vanished_on_links", vanished},
          {"damaged_on_links", damaged},
          {"balanced", imbalances.empty()},
          {"imbalances", imbalances},
          {"deadlocks", snapshot.deadlocks.size()},
          {"errors", snapshot.errors.size()},
          {"route_changes", snapshot.route_changes},
          {"dropped_packets", dropped_packets(drops)},
          {"drops", drops_json(drops)}};
}

Json losses_json(const FabricSnapshot& snapshot) {
  Json out = Json::array();
  for (const Loss& loss : losses_of(snapshot)) {
    out.push_back({{"place", loss.place}, {"reason", loss.reason}, {"packets", loss.packets}});
  }
  return out;
}

// Flows of one workload between the same hosts that stalled alike are one entry.
Json stalled_json(const FabricSnapshot& snapshot) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, uint64_t> alike;
  for (const FlowSnapshot& flow : snapshot.flows) {
    if (!flow.stalled.empty()) ++alike[{flow.workload, flow.source, flow.destination, flow.stalled}];
  }
  Json out = Json::array();
  for (const auto& [key, flows] : alike) {
    const auto& [workload, source, destination, why] = key;
    out.push_back(
        {{"workload", workload}, {"source", source}, {"destination", destination}, {"flows", flows}, {"why", why}});
  }
  return out;
}

Json deadlocks_json(const FabricSnapshot& snapshot) {
  Json out = Json::array();
  for (const DeadlockSnapshot& each : snapshot.deadlocks) {
    out.push_back({{"found_ps", each.found.count_ps()}, {"circle", each.circle}});
  }
  return out;
}

Json engine_json(const EngineSnapshot& engine, const RunFacts& facts) {
  Json out{{"workers", engine.workers},
           {"dilation", facts.dilation},
           {"windows", engine.windows},
           {"node_runs", engine.node_runs},
           {"wall_seconds", engine.wall_seconds},
           {"lateness_p50_ps", engine.lateness_ps.quantile(0.5)},
           {"lateness_p99_ps", engine.lateness_ps.quantile(0.99)},
           {"lateness_max_ps", engine.lateness_ps.max()}};
  if (!engine.meeting) return out;
  out["meeting_p50_ps"] = engine.meeting->median_ps;
  out["meeting_p99_ps"] = engine.meeting->p99_ps;
  out["clock_uncertainty_ps"] = engine.clock_uncertainty.count_ps();
  return out;
}

Json engineering_json(const EngineeringSnapshot& engineering) {
  return {{"plans", engineering.plans},   {"updates", engineering.updates},
          {"moved", engineering.moved},   {"demands", engineering.demands},
          {"placed", engineering.placed}, {"highest_load", rounded(engineering.highest_load)}};
}

Json drops_json(const dataplane::DropCounters& drops) {
  Json out = Json::object();
  for (size_t i = 0; i < drops.size(); ++i) {
    add_key(out, std::string{dataplane::name_of(static_cast<DropReason>(i))}, drops[i]);
  }
  return out;
}

Json workloads_json(const FabricSnapshot& snapshot) {
  Json out = Json::object();
  for (WorkloadTotals& totals : totals_by(snapshot, &FlowSnapshot::workload)) {
    for (const WorkloadLatency& known : snapshot.workload_latencies) {
      if (known.workload == totals.name) totals.latency = LatencySummary::of(known.packets);
    }
    add_key(out, totals.name, workload_json(totals));
  }
  return out;
}

Json links_json(const FabricSnapshot& snapshot, const IdleParts* left_out) {
  Json out = Json::object();
  for (const LinkDirection& link : link_directions(snapshot)) {
    if (left_out != nullptr && left_out->links.contains(link.from)) continue;
    Json each{{"to", link.to}, {"up", link.up}, {"speed_bps", link.rate.count_bps()}};
    add_counters<LinkDirection>(each, link, link_counters());
    add_key(each, "utilisation", rounded(link.utilisation(snapshot.instant)));
    if (link.is_uplink) add_key(each, "share", rounded(link.share));
    add_key(out, link.from, std::move(each));
  }
  return out;
}

Json errors_json(const std::vector<RunError>& errors) {
  Json out = Json::array();
  for (const RunError& each : errors) {
    out.push_back({{"who", each.who},
                   {"what", each.what},
                   {"first_ps", each.first.count_ps()},
                   {"last_ps", each.last.count_ps()},
                   {"count", each.count}});
  }
  return out;
}

Json report_json(const FabricSnapshot& snapshot, const RunFacts& facts, IdleRows idle) {
  const ReportInput input{snapshot, facts, idle_parts(snapshot), idle == IdleRows::kLeftOut};
  Json out = Json::object();
  for (const Section& section : sections()) {
    if (section.is_there == nullptr || section.is_there(snapshot)) {
      add_key(out, std::string{section.key}, section.json(input));
    }
  }
  return out;
}

}  // namespace softspine::control
