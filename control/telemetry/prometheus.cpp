// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/prometheus.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <typeindex>
#include <vector>

#include "control/telemetry/counter_parts.hpp"
#include "control/telemetry/event_lines.hpp"
#include "control/telemetry/exposition.hpp"

namespace softspine::control {

namespace {

using dataplane::DropCounters;
using Type = Exposition::Type;

constexpr double kSecondsPerPs = 1e-12;

std::string_view reason_name(size_t index) {
  return dataplane::name_of(static_cast<dataplane::DropReason>(index));
}

Type type_of(Nature nature) {
  return nature == Nature::kGrows ? Type::kCounter : Type::kGauge;
}

// The labels of a part's samples; `node` is what its owner is called: switch, host, edge.
class PartLabels {
 public:
  PartLabels(std::string_view node_label, const PartName& name, std::string_view direction) {
    add(node_label, name.node);
    if (!name.port_label.empty()) add(name.port_label, name.port);
    if (name.number) {
      number_ = std::to_string(*name.number);
      add(name.last_label, number_);
    } else if (!name.direction.empty()) {
      add(name.last_label, name.direction);
    }
    if (!direction.empty()) add("direction", direction);
  }
  Exposition::Labels all() const { return {labels_.data(), count_}; }

 private:
  void add(std::string_view label, std::string_view value) { labels_[count_++] = {label, value}; }
  std::array<Exposition::Label, 4> labels_;
  size_t count_ = 0;
  std::string number_;
};

bool has_zeros(const FabricSnapshot& snapshot) {
  size_t ports = 0;
  for (const SwitchSnapshot& node : snapshot.switches) ports += node.ports.size();
  return ports <= kPortsWithZeros;
}

// Which parts of a kind have counted anything, in the order of each_part().
template <typename Part, typename Owners, typename Counters>
std::vector<bool> parts_in_use(const Owners& owners, const Counters& counters) {
  std::vector<const Read<Part>*> reads;
  for (const auto& counter : counters) {
    const auto* const read = std::get_if<Read<Part>>(&counter.read);
    if (read != nullptr && counter.facts.nature != Nature::kNow) reads.push_back(read);
  }
  std::vector<bool> out;
  const auto see = [&](const Part& part, const PartName&) {
    out.push_back(std::ranges::any_of(reads, [&](const Read<Part>* read) { return (*read)(part).value_or(0) > 0; }));
  };
  for (const auto& owner : owners) each_part<Part>(owner, see);
  return out;
}

// The families of a table, in its order: of all owners, then the next.
template <typename Owners, typename Counters>
void add_table(Exposition& out, const Owners& owners, std::string_view node_label, const Counters& counters,
               bool with_zeros) {
  std::string_view last;
  std::map<std::type_index, std::vector<bool>> in_use;
  for (const auto& counter : counters) {
    const CounterFacts& facts = counter.facts;
    if (facts.metric.empty()) continue;
    if (facts.metric != last) out.family(facts.metric, type_of(facts.nature), facts.help);
    last = facts.metric;
    std::visit(
        [&]<typename Part>(const Read<Part>& read) {
          std::vector<bool>& used = in_use[typeid(Part)];
          if (!with_zeros && used.empty()) used = parts_in_use<Part>(owners, counters);
          size_t number = 0;
          const auto see = [&](const Part& part, const PartName& name) {
            const std::optional<uint64_t> value = read(part);
            const bool may_be_zero = with_zeros || used[number++] || (facts.nature == Nature::kNow && !name.number);
            if (!value || (*value == 0 && !may_be_zero)) return;
            const PartLabels labels{node_label, name, facts.direction};
            if (facts.unit == CounterUnit::kPicoseconds) {
              out.sample(labels.all(), static_cast<double>(*value) * kSecondsPerPs);
            } else {
              out.sample(labels.all(), *value);
            }
          };
          for (const auto& owner : owners) each_part<Part>(owner, see);
        },
        counter.read);
  }
}

void add_switches(Exposition& out, const FabricSnapshot& snapshot) {
  add_table(out, snapshot.switches, "switch", switch_counters(), has_zeros(snapshot));
  out.family("softspine_port_dropped_packets_total", Type::kCounter,
             "Frames that came in by the port and ended in the switch, by reason.");
  for (const SwitchSnapshot& node : snapshot.switches) {
    for (const PortSnapshot& port : node.ports) {
      for (size_t i = 0; i < port.counters.drops.size(); ++i) {
        if (port.counters.drops[i] == 0) continue;
        out.sample({{"switch", node.name}, {"port", port.name}, {"reason", reason_name(i)}}, port.counters.drops[i]);
      }
    }
  }
  out.family("softspine_route_changes_total", Type::kCounter, "Switches that got new routes.");
  out.sample({}, uint64_t{snapshot.route_changes});
}

void add_links(Exposition& out, const FabricSnapshot& snapshot) {
  out.family("softspine_link_up", Type::kGauge, "1 if the link is up.");
  for (const LinkSnapshot& link : snapshot.links) out.sample({{"a", link.a}, {"b", link.b}}, uint64_t{link.up});
  add_table(out, link_directions(snapshot), "from", link_counters(), has_zeros(snapshot));
}

void add_hosts(Exposition& out, const FabricSnapshot& snapshot) {
  add_table(out, snapshot.hosts, "host", host_counters(), has_zeros(snapshot));
  out.family("softspine_host_dropped_packets_total", Type::kCounter, "Frames that ended at the host, by reason.");
  for (const HostSnapshot& host : snapshot.hosts) {
    for (size_t i = 0; i < host.counters.dropped.size(); ++i) {
      if (host.counters.dropped[i] > 0)
        out.sample({{"host", host.name}, {"reason", reason_name(i)}}, host.counters.dropped[i]);
    }
  }
  out.family("softspine_host_packet_latency_seconds", Type::kSummary,
             "From the first bit sent to the last bit received, of packets delivered.");
  const bool with_zeros = has_zeros(snapshot);
  for (const HostSnapshot& host : snapshot.hosts) {
    const LatencySummary& latency = host.latency;
    if (latency.samples == 0 && !with_zeros) continue;
    if (latency.p50_ps)
      out.sample({{"host", host.name}, {"quantile", "0.5"}}, static_cast<double>(*latency.p50_ps) * kSecondsPerPs);
    if (latency.p99_ps)
      out.sample({{"host", host.name}, {"quantile", "0.99"}}, static_cast<double>(*latency.p99_ps) * kSecondsPerPs);
    const double sum = static_cast<double>(latency.mean_ps) * static_cast<double>(latency.samples) * kSecondsPerPs;
    out.sum_and_count({{"host", host.name}}, sum, latency.samples);
  }
}

void add_edge_drops(Exposition& out, const EdgeSnapshot& edge, std::string_view direction, const DropCounters& drops) {
  for (size_t i = 0; i < drops.size(); ++i) {
    if (drops[i] == 0) continue;
    out.sample({{"edge", edge.key()}, {"kind", edge.kind}, {"direction", direction}, {"reason", reason_name(i)}},
               drops[i]);
  }
}

void add_edges(Exposition& out, const FabricSnapshot& snapshot) {
  add_table(out, snapshot.edges, "edge", edge_counters(), true);
  out.family("softspine_edge_dropped_packets_total", Type::kCounter, "Frames that ended at the edge, by reason.");
  for (const EdgeSnapshot& edge : snapshot.edges) {
    add_edge_drops(out, edge, "in", edge.counters.in_drops);
    add_edge_drops(out, edge, "out", edge.counters.out_drops);
  }
  out.family("softspine_edge_outside_total", Type::kCounter, "What the outside counts by itself, by its own names.");
  for (const EdgeSnapshot& edge : snapshot.edges) {
    for (const auto& [name, count] : edge.statistics) {
      out.sample({{"edge", edge.key()}, {"port", edge.port}, {"kind", edge.kind}, {"statistic", name}}, count);
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
  if (snapshot.events) {
    out.family("softspine_events_total", Type::kCounter,
               "Lines of the event log, by kind; only of a run with --events.");
    for (size_t i = 0; i < event_facts().size(); ++i) {
      out.sample({{"event", event_facts()[i].name}}, snapshot.events->lines.at(i));
    }
  }
  out.family("softspine_engine_windows_total", Type::kCounter, "Windows that the engine has run.");
  out.sample({}, snapshot.engine.windows);
  out.family("softspine_engine_lateness_seconds", Type::kSummary, "How late windows were handled; wall clock only.");
  const dataplane::Histogram& lateness = snapshot.engine.lateness_ps;
  out.sample({{"quantile", "0.5"}}, static_cast<double>(lateness.quantile(0.5)) * kSecondsPerPs);
  out.sample({{"quantile", "0.99"}}, static_cast<double>(lateness.quantile(0.99)) * kSecondsPerPs);
  out.sum_and_count({}, lateness.mean() * static_cast<double>(lateness.count()) * kSecondsPerPs, lateness.count());
}

}  // namespace

void add_prometheus(Exposition& out, const FabricSnapshot& snapshot) {
  add_engine(out, snapshot);
  add_switches(out, snapshot);
  add_links(out, snapshot);
  add_hosts(out, snapshot);
  add_table(out, totals_by(snapshot, &FlowSnapshot::workload), "workload", workload_counters(), true);
  add_edges(out, snapshot);
}

std::string prometheus_text(const FabricSnapshot& snapshot) {
  Exposition out;
  add_prometheus(out, snapshot);
  return out.take();
}

}  // namespace softspine::control
