// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/summary/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"
#include "tools/softspine/summary/summary_collectives.hpp"
#include "tools/softspine/summary/summary_events.hpp"
#include "tools/softspine/summary/summary_ports.hpp"
#include "tools/softspine/summary/summary_slowdowns.hpp"
#include "tools/softspine/summary/summary_traces.hpp"
#include "tools/softspine/summary/summary_training.hpp"
#include "tools/softspine/summary/summary_uplinks.hpp"
#include "tools/softspine/summary/summary_words.hpp"

namespace softspine::tools {

using control::Json;

namespace {

constexpr size_t kStalledShown = 8;

void add_head(std::string& out, const Json& report) {
  const Json& engine = report["engine"];
  const double seconds = number(engine["wall_seconds"]);
  double hops = 0;
  for (const auto& [name, node] : report["switches"].items()) hops += number(node["rx_packets"]);
  out += fmt::format("{}: {} of emulated time on the {} clock in {:.2f} s, seed {}{}\n",
                     report["testbed"].get<std::string>(), short_time(report["duration_ps"]),
                     report["clock"].get<std::string>(), seconds, report["seed"].get<uint64_t>(),
                     report["interrupted"].get<bool>() ? ", interrupted" : "");
  out += fmt::format("{} packet-hops, {}/s, by {} worker{}\n", short_number(hops),
                     short_number(seconds > 0 ? hops / seconds : 0), engine["workers"].get<uint32_t>(),
                     engine["workers"].get<uint32_t>() == 1 ? "" : "s");
  if (report["clock"] != "wall") return;
  out += fmt::format("engine lateness p50 {}, p99 {}, max {} of emulated time, dilation {}\n",
                     short_time(engine["lateness_p50_ps"]), short_time(engine["lateness_p99_ps"]),
                     short_time(engine["lateness_max_ps"]), engine["dilation"].get<int64_t>());
  if (!engine.contains("meeting_p50_ps")) return;
  out +=
      fmt::format("a meeting of ranks takes p50 {}, p99 {} of wall time; their clocks are at most {} from rank 0's\n",
                  short_time(engine["meeting_p50_ps"]), short_time(engine["meeting_p99_ps"]),
                  short_time(engine["clock_uncertainty_ps"]));
}

// The last acknowledgement only where somebody acknowledges.
void add_flows(std::string& out, const Json& flows) {
  if (flows.empty()) return;
  const bool acked = std::ranges::any_of(flows, [](const Json& w) { return !w["fct_acked_max_ps"].is_null(); });
  std::vector<std::string> headers{"<workload", "flows", "done",           "sent", "arrived",
                                   "missing",   "rate",  "completion p50", "p99",  "max"};
  if (acked) headers.insert(headers.end(), {"acked p50", "max"});
  headers.insert(headers.end(), {"packet latency p50", "p99"});
  control::TextTable table{headers};
  uint64_t under_way = 0;
  for (const auto& [name, w] : flows.items()) {
    std::vector<std::string> row{name,
                                 w["flows"].dump(),
                                 w["completed"].dump(),
                                 short_number(number(w["sent_bytes"]) - number(w["retransmitted_bytes"]), "B"),
                                 short_number(number(w["received_bytes"]), "B"),
                                 w["missing_packets"].dump(),
                                 short_number(number(w["rate_bps"]), "b/s"),
                                 short_time(w["fct_p50_ps"]),
                                 short_time(w["fct_p99_ps"]),
                                 short_time(w["fct_max_ps"])};
    if (acked) row.insert(row.end(), {short_time(w["fct_acked_p50_ps"]), short_time(w["fct_acked_max_ps"])});
    row.insert(row.end(), {short_time(w["latency_p50_ps"]), short_time(w["latency_p99_ps"])});
    table.add(std::move(row));
    under_way += w["under_way_packets"].get<uint64_t>();
  }
  out += "\nRoCEv2 traffic (payload, each byte once; missing in packets)\n" + table.text();
  if (under_way == 0) return;
  out += fmt::format("{} packets were still under way at the end: they are not missing\n", under_way);
}

void add_stalled(std::string& out, const Json& report) {
  const Json& all = report["stalled"];
  if (all.empty()) return;
  out += fmt::format("\n{} flows stalled: they have not ended and have no way to go on\n",
                     report["totals"]["stalled_flows"].get<uint64_t>());
  for (size_t i = 0; i < std::min(all.size(), kStalledShown); ++i) {
    const Json& each = all[i];
    out += fmt::format("  {} {} → {}: {}{}\n", each["workload"].get<std::string>(), each["source"].get<std::string>(),
                       each["destination"].get<std::string>(), each["why"].get<std::string>(),
                       each["flows"] == 1 ? "" : fmt::format(" ({} flows)", each["flows"].get<uint64_t>()));
  }
  if (all.size() > kStalledShown) out += fmt::format("  and {} more\n", all.size() - kStalledShown);
}

// Such flows end, since nothing notifies their senders.
void add_cut_off(std::string& out, const Json& report) {
  const auto all = report["totals"]["cut_off_flows"].get<uint64_t>();
  if (all == 0) return;
  std::string whose;
  for (const auto& [name, flows] : report["flows"].items()) {
    const auto count = flows["cut_off_flows"].get<uint64_t>();
    if (count > 0) whose += fmt::format("{}{} of {}", whose.empty() ? "" : ", ", count, name);
  }
  out += fmt::format("\nOpen-loop flows cut off: {}. None of their last packets has arrived\n", whose);
}

// Troubles of softspine itself.
void add_troubles(std::string& out, const Json& report) {
  if (!report["totals"]["balanced"].get<bool>()) {
    out += "The counters do not add up (totals.imbalances): a defect of softspine, please report it\n";
  }
}

void add_errors(std::string& out, const Json& errors) {
  if (errors.empty()) return;
  out += "\nErrors\n";
  for (const Json& each : errors) {
    const auto count = each["count"].get<uint64_t>();
    out += fmt::format("  {}: {} (at {}{})\n", each["who"].get<std::string>(), each["what"].get<std::string>(),
                       short_time(each["first_ps"]), count > 1 ? fmt::format(", {} times", count) : "");
  }
}

uint64_t lost_packets(const Json& drops) {
  uint64_t sum = 0;
  for (const auto& [reason, count] : drops.items()) {
    if (is_loss(reason)) sum += count.get<uint64_t>();
  }
  return sum;
}

// A priority's pause at a time: several at once count several times.
void add_edges(std::string& out, const Json& edges) {
  if (edges.empty()) return;
  control::TextTable table{{"<outside host", "<kind", "sent packets", "bytes", "received packets", "bytes",
                            "lost from it", "lost to it", "paused ms", "pauses sent", "CNPs sent", "CNPs handled"}};
  for (const auto& [name, edge] : edges.items()) {
    table.add({name, edge["kind"].get<std::string>(), edge["in_packets"].dump(),
               short_number(number(edge["in_bytes"]), "B"), edge["out_packets"].dump(),
               short_number(number(edge["out_bytes"]), "B"), std::to_string(lost_packets(edge["in_drops"])),
               std::to_string(lost_packets(edge["out_drops"])), fmt::format("{:.3f}", number(edge["paused_ps"]) * 1e-9),
               edge["pfc_tx_packets"].dump(), edge["np_cnp_sent"].dump(), edge["rp_cnp_handled"].dump()});
  }
  out += "\n" + table.text();
}

void add_commands(std::string& out, const Json& report) {
  if (!report.contains("commands")) return;
  control::TextTable table{{"<command on", "<ended with", "after", "<output"}};
  for (const auto& [name, command] : report["commands"].items()) {
    std::string how = "status " + command["exit_status"].dump();
    if (command["exit_status"].is_null()) how = command["problem"].get<std::string>();
    if (command["timed_out"].get<bool>()) how = "timeout";
    const std::string output = command["stdout"].get<std::string>();
    table.add({name, how, fmt::format("{:.1f} s", number(command["seconds"])),
               output.empty() ? "kept with --folder" : output});
  }
  out += "\n" + table.text();
}

}  // namespace

std::string summary_text(const Json& report) {
  std::string out;
  add_head(out, report);
  out += slowdowns_text(report);
  out += collectives_text(report);
  out += training_text(report);
  out += traces_text(report);
  add_flows(out, report["flows"]);
  out += nic_ports_text(report);
  add_edges(out, report["edges"]);
  add_commands(out, report);
  out += uplinks_text(report["links"]);
  out += losses_text(report);
  add_stalled(out, report);
  add_cut_off(out, report);
  out += events_text(report);
  out += paused_ports_text(report);
  if (!report["notices"].empty()) out += "\n";
  for (const Json& notice : report["notices"]) out += "Notice: " + notice.get<std::string>() + "\n";
  add_errors(out, report["errors"]);
  add_troubles(out, report);
  return out;
}

}  // namespace softspine::tools
