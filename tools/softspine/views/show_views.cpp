// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/views/show_views.hpp"

#include <algorithm>

#include "control/report/lag_counters.hpp"
#include "control/report/nic_ports.hpp"
#include "control/report/stack_json.hpp"
#include "control/telemetry/buffer_tables.hpp"
#include "control/telemetry/counters_json.hpp"
#include "control/telemetry/event_lines.hpp"
#include "control/telemetry/prometheus.hpp"
#include "control/telemetry/show_tables.hpp"
#include "tools/softspine/views/device_view.hpp"
#include "tools/softspine/views/fabric_view.hpp"
#include "tools/softspine/views/run_report.hpp"
#include "tools/softspine/views/switch_views.hpp"

namespace softspine::tools {

using namespace control;

namespace {

// Parts of a table's row: they take what the row names as constants.
Json report_of(const Shown& shown) {
  return report_json(shown.snapshot, run_facts(shown.testbed));
}
Json counters_of(const Shown& shown) {
  return counters_json(shown.snapshot);
}

// A part of the report.
enum class Part : uint8_t { kSwitches, kFlows, kNics, kLinks, kLags };
template <Part P>
Json part_of(const Shown& shown) {
  static constexpr const char* kKeys[] = {"switches", "flows", "edges", "links", "lags"};
  return report_of(shown)[kKeys[static_cast<size_t>(P)]];
}

// Some of SAI's counters.
enum class Stat : uint8_t { kPfc, kGroup, kQueue, kPool };
template <Stat S>
Json stats_of(const Shown& shown) {
  static constexpr std::string_view kPrefixes[] = {"SAI_PORT_STAT_PFC_", "SAI_INGRESS_PRIORITY_GROUP_STAT_",
                                                   "SAI_QUEUE_STAT_", "SAI_BUFFER_POOL_STAT_"};
  return counters_with(counters_json(shown.snapshot), kPrefixes[static_cast<size_t>(S)]);
}

template <std::string (*Table)(const FabricSnapshot&)>
std::string table_of(const Shown& shown) {
  return Table(shown.snapshot);
}
template <std::string (*Table)(const FabricSnapshot&, std::string_view)>
std::string table_of(const Shown& shown) {
  return Table(shown.snapshot, {});
}

// A view of the fabric is its table (control/telemetry) and a row here; those of one switch have their rows in
// switch_views.cpp.
constexpr View kFabricViews[] = {
    {"fabric", "its name, clock and time", FabricView{fabric_json, fabric_text}},
    {"interfaces counters", "packets, bytes, rates and drops of every port",
     FabricView{part_of<Part::kSwitches>, table_of<interfaces_table>}},
    {"queue counters", "packets, bytes, drops and occupancy of every queue",
     FabricView{counters_of, table_of<queues_table>}},
    {"queue watermark unicast", "most shared memory that each queue has used",
     FabricView{stats_of<Stat::kQueue>, table_of<queue_watermark_table>}},
    {"priority-group watermark shared", "most shared memory that each priority group has used",
     FabricView{stats_of<Stat::kGroup>, table_of<priority_group_watermark_table>}},
    {"priority-group watermark headroom", "most headroom that each priority group has used",
     FabricView{stats_of<Stat::kGroup>, table_of<group_headroom_table>}},
    {"priority-group drop counters", "frames that each priority group refused",
     FabricView{stats_of<Stat::kGroup>, table_of<group_drops_table>}},
    {"buffer_pool watermark", "most that was used of each pool",
     FabricView{stats_of<Stat::kPool>, table_of<pool_watermark_table>}},
    {"headroom-pool watermark", "most that was used of each shared headroom pool",
     FabricView{stats_of<Stat::kPool>, table_of<headroom_pool_watermark_table>}},
    {"pfc counters", "pauses received, sent and ended, and the time spent paused",
     FabricView{stats_of<Stat::kPfc>, table_of<pfc_counters_table>}},
    {"pfcwd stats", "storms that the PFC watchdog found",
     FabricView{[](const Shown& it) { return watchdog_json(it.snapshot); }, table_of<watchdog_table>}},
    {"drops", "by node and reason", FabricView{part_of<Part::kSwitches>, table_of<drops_table>}},
    {"hash counters", "flowlets begun, keys that a packet was too short for, and packets of overrides",
     FabricView{part_of<Part::kSwitches>, table_of<hash_table>}},
    {"flows", "built-in traffic: what was sent, what arrived, how late",
     FabricView{part_of<Part::kFlows>, table_of<flows_table>}},
    {"nics", "of hosts that are outside: pauses, CNPs, what waits",
     FabricView{part_of<Part::kNics>, table_of<nics_table>}},
    {"nic-ports", "both ports of each NIC that has two: bytes each way, and the most that waited before it",
     FabricView{[](const Shown& it) { return nic_ports_json(it.snapshot); }, table_of<nic_ports_table>, keep_hosts_at}},
    {"devices", "DPDK's devices behind edges: driver, link, rings, offloads, what they count",
     FabricView{devices_json, devices_text}},
    {"links", "up or down, and what was lost on them",
     FabricView{part_of<Part::kLinks>, table_of<links_table>, keep_links_of}},
    {"stacks", "pairs of ToRs that are one system: roles, states, whether they hear each other",
     FabricView{[](const Shown& it) { return stacks_json(it.snapshot); }, table_of<stacks_table>}},
    {"events", "lines of the event log by kind, if the run writes one",
     FabricView{[](const Shown& it) { return events_json(it.snapshot); }, table_of<events_table>}},
    {"lags", "members of each LAG, and what went by each", FabricView{part_of<Part::kLags>, table_of<lags_table>}},
};

// Everything at once, in one form.
constexpr View kWholeViews[] = {
    {"counters", "everything under SAI's names, as JSON", FabricView{counters_of}},
    {"prometheus", "everything as Prometheus reads it", PagedView{put_prometheus_pages}},
    {"report", "what the run's report would say now, as JSON", FabricView{report_of}},
};

}  // namespace

// What the far ends of its links have counted is still needed to show them.
void keep_links_of(FabricSnapshot& snapshot, const std::string& node) {
  std::erase_if(snapshot.links,
                [&](const LinkSnapshot& it) { return !it.a.starts_with(node + ":") && !it.b.starts_with(node + ":"); });
}

// The node itself, or the hosts that it has links to; what the switches have counted is still needed to show them.
void keep_hosts_at(FabricSnapshot& snapshot, const std::string& node) {
  const auto is_of = [](const std::string& port, const std::string& name) { return port.starts_with(name + ":"); };
  std::erase_if(snapshot.hosts, [&](const HostSnapshot& host) {
    return host.name != node && std::ranges::none_of(snapshot.links, [&](const LinkSnapshot& link) {
             return (is_of(link.a, host.name) && is_of(link.b, node)) ||
                    (is_of(link.b, host.name) && is_of(link.a, node));
           });
  });
}

void keep_only(FabricSnapshot& snapshot, const std::string& node) {
  keep_links_of(snapshot, node);
  std::erase_if(snapshot.lags, [&](const LagSnapshot& it) {
    return std::ranges::none_of(it.ends, [&](const LagEndSnapshot& end) { return end.node == node; });
  });
  std::erase_if(snapshot.switches, [&](const SwitchSnapshot& it) { return it.name != node; });
  std::erase_if(snapshot.hosts, [&](const HostSnapshot& it) { return it.name != node; });
  std::erase_if(snapshot.edges, [&](const EdgeSnapshot& it) { return it.name != node; });
  std::erase_if(snapshot.flows, [&](const FlowSnapshot& it) { return it.source != node && it.destination != node; });
}

std::span<const View> views() {
  static const std::vector<View> all = [] {
    std::vector<View> out;
    for (const std::span<const View> part :
         {std::span<const View>(kFabricViews), switch_views(), std::span<const View>(kWholeViews)})
      out.insert(out.end(), part.begin(), part.end());
    return out;
  }();
  return all;
}

Json views_json() {
  Json out = Json::array();
  for (const View& view : views()) out.push_back({{"view", view.words}, {"help", view.help}});
  return out;
}

}  // namespace softspine::tools
