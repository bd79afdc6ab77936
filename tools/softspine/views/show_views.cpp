// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/views/show_views.hpp"

#include <algorithm>
#include <iterator>

#include "control/report/collective_json.hpp"
#include "control/report/fabric_map.hpp"
#include "control/report/metrics.hpp"
#include "control/report/nic_ports.hpp"
#include "control/report/port_pressure.hpp"
#include "control/report/sections.hpp"
#include "control/report/step_text.hpp"
#include "control/telemetry/buffer_tables.hpp"
#include "control/telemetry/counters_json.hpp"
#include "control/telemetry/show_tables.hpp"
#include "tools/softspine/views/device_view.hpp"
#include "tools/softspine/views/fabric_view.hpp"
#include "tools/softspine/views/flow_path_view.hpp"
#include "tools/softspine/views/run_report.hpp"
#include "tools/softspine/views/switch_views.hpp"

namespace softspine::tools {

using namespace control;

namespace {

// Parts of a table's row: they take what the row names as constants.
Json report_of(const Shown& shown) {
  return report_json(shown.snapshot, run_facts(shown.testbed));
}
Json sai_counters(const Shown& shown) {
  return counters_json(shown.snapshot);
}

// A section of the report; null if the report has none.
Json section_json(const Section& section, const Shown& shown) {
  if (section.is_there != nullptr && !section.is_there(shown.snapshot)) return nullptr;
  return section.json({shown.snapshot, run_facts(shown.testbed), {}});
}
Json map_of(const Shown& shown) {
  return map_json(shown.testbed.name, shown.testbed.fabric);
}
Json loads_of(const Shown& shown) {
  return loads_json(shown.testbed.fabric, shown.snapshot);
}
Json pressure_of_ports(const Shown& shown) {
  return pressure_json(pressure_of(shown.testbed.fabric, shown.snapshot, shown.fills));
}
Json switches_of(const Shown& shown) {
  return section_json(section_of("switches"), shown);
}

// Some of SAI's counters.
enum class Stat : uint8_t { kPfc, kGroup, kQueue, kPool };
template <Stat S>
Json stats_of(const Shown& shown) {
  static constexpr std::string_view kPrefixes[] = {"SAI_PORT_STAT_PFC_", "SAI_INGRESS_PRIORITY_GROUP_STAT_",
                                                   "SAI_QUEUE_STAT_", "SAI_BUFFER_POOL_STAT_"};
  return counters_with(counters_json(shown.snapshot), kPrefixes[static_cast<size_t>(S)]);
}

// Null if they are not recorded.
Json shown_steps(const Shown& shown) {
  return shown.snapshot.steps == nullptr ? Json() : steps_json(*shown.snapshot.steps, shown.testbed.name);
}
// What is largest of it: sizes that do not follow the number of ranks.
Json shown_waits(const Shown& shown) {
  return shown.snapshot.steps == nullptr ? Json() : waits_json(*shown.snapshot.steps);
}
Json shown_spans(const Shown& shown) {
  return shown.snapshot.steps == nullptr ? Json() : spans_json(*shown.snapshot.steps);
}
std::string shown_steps_table(const Shown& shown) {
  return shown.snapshot.steps == nullptr ? "nothing is recorded; softspine run --steps FILE does so\n"
                                         : steps_table(*shown.snapshot.steps);
}

template <std::string (*Table)(const FabricSnapshot&)>
std::string table_of(const Shown& shown) {
  return Table(shown.snapshot);
}
template <std::string (*Table)(const FabricSnapshot&, std::string_view)>
std::string table_of(const Shown& shown) {
  return Table(shown.snapshot, {});
}

View of_section(const Section& section) {
  const auto& view = section.view;
  return {view.words, view.help,
          FabricView{[&section](const Shown& shown) { return section_json(section, shown); },
                     [&section](const Shown& shown) { return section.view.table(shown.snapshot); },
                     view.keep != nullptr ? view.keep : keep_only}};
}

// A view of the fabric is its table (control/telemetry) and a row here, or a section of the report with words for
// `show`: those that are not placed here come last. Views of one switch have their rows in switch_views.cpp.
std::vector<View> fabric_views() {
  std::vector<View> out{
      {"fabric", "its name, clock and time", FabricView{fabric_json, fabric_text}},
      {"interfaces counters", "packets, bytes, rates and drops of every port",
       FabricView{switches_of, table_of<interfaces_table>}},
      {"queue counters", "packets, bytes, drops and occupancy of every queue",
       FabricView{sai_counters, table_of<queues_table>}},
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
      {"drops", "by node and reason", FabricView{switches_of, table_of<drops_table>}},
      {"hash counters", "flowlets begun, keys that a packet was too short for, and packets of overrides",
       FabricView{switches_of, table_of<hash_table>}},
      of_section(section_of("flows")),
      {"flow paths", "the flows that have sent most, or cross a port (--port), and the ports of their ways",
       PathView{flow_paths_json, flow_paths_text}},
      of_section(section_of("collectives")),
      {"nccl-tests", "collectives as nccl-tests prints them: a line a size that has ended",
       FabricView{[](const Shown& it) { return collectives_json(it.snapshot); }, table_of<nccl_tables>}},
      of_section(section_of("training")),
      of_section(section_of("traces")),
      {"steps", "what ranks of collectives and trainings waited for, if run --steps records it",
       FabricView{shown_steps, shown_steps_table}},
      {"rank waits", "likewise: the ranks with the longest waits, without what all of them did",
       FabricView{shown_waits, shown_steps_table}},
      {"rank spans", "likewise: what 16 ranks of each job did over time, those with the longest waits",
       FabricView{shown_spans, shown_steps_table}},
      of_section(section_of("edges")),
      {"nic-ports", "both ports of each NIC that has two: bytes each way, and the most that waited before it",
       FabricView{[](const Shown& it) { return nic_ports_json(it.snapshot); }, table_of<nic_ports_table>,
                  keep_hosts_at}},
      {"devices", "DPDK's devices behind edges: driver, link, rings, offloads, what they count",
       FabricView{devices_json, devices_text}},
      of_section(section_of("links")),
      of_section(section_of("stacks")),
      of_section(section_of("events")),
      of_section(section_of("lags")),
  };
  for (const Section& section : sections()) {
    const bool is_placed = std::ranges::find(out, section.view.words, &View::words) != out.end();
    if (!section.view.words.empty() && !is_placed) out.push_back(of_section(section));
  }
  return out;
}

// Everything at once, in one form.
std::vector<View> whole_views() {
  return {
      {"map", "nodes by tier, their ports and peers, for who draws the fabric, as JSON", FabricView{map_of}},
      {"loads", "what each port of the map sent, waited for, queued and dropped, as JSON", FabricView{loads_of}},
      {"pressure", "what each port of the map, its queues and priority groups paused, lost and hold, as JSON",
       FabricView{.json = pressure_of_ports, .needs_fills = true}},
      {"counters", "everything under SAI's names, as JSON", FabricView{sai_counters}},
      {"prometheus", "everything as Prometheus reads it", PagedView{put_metrics_pages}},
      {"report", "what the run's report would say now, as JSON", FabricView{report_of}},
  };
}

}  // namespace

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
    std::vector<View> out = fabric_views();
    std::ranges::copy(switch_views(), std::back_inserter(out));
    std::ranges::copy(whole_views(), std::back_inserter(out));
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
