// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>
#include <span>
#include <vector>

#include "control/telemetry/text_table.hpp"
#include "tools/softspine/summary_events.hpp"
#include "tools/softspine/summary_ports.hpp"

namespace softspine::tools {

using control::Json;

namespace {

constexpr size_t kSwitchesShown = 8;
constexpr size_t kUplinksShown = 8;
constexpr size_t kStalledShown = 8;

double number(const Json& value) {
  return value.is_number() ? value.get<double>() : 0;
}

void add_head(std::string& out, const Json& report) {
  const Json& engine = report["engine"];
  const double seconds = number(engine["wall_seconds"]);
  double hops = 0;
  for (const auto& [name, node] : report["switches"].items()) hops += number(node["rx_packets"]);
  out += fmt::format("{}: {} of emulated time on the {} clock in {:.2f} s, seed {}\n",
                     report["testbed"].get<std::string>(), short_time(report["duration_ps"]),
                     report["clock"].get<std::string>(), seconds, report["seed"].get<uint64_t>());
  out += fmt::format("{} packet-hops, {}/s, by {} worker{}\n", short_number(hops),
                     short_number(seconds > 0 ? hops / seconds : 0), engine["workers"].get<uint32_t>(),
                     engine["workers"].get<uint32_t>() == 1 ? "" : "s");
  if (report["clock"] != "wall") return;
  out += fmt::format("engine lateness p50 {}, p99 {}, max {} of emulated time, dilation {}\n",
                     short_time(engine["lateness_p50_ps"]), short_time(engine["lateness_p99_ps"]),
                     short_time(engine["lateness_max_ps"]), engine["dilation"].get<int64_t>());
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

using Uplinks = std::vector<std::pair<std::string, double>>;  // to whom, and the share of the switch's bytes

// What is not shown one by one.
std::string other_uplinks(const Uplinks& uplinks) {
  const auto others = std::span{uplinks}.subspan(kUplinksShown);
  const auto [least, most] = std::ranges::minmax(others | std::views::transform(&Uplinks::value_type::second));
  const auto idle = std::ranges::count(others, 0.0, &Uplinks::value_type::second);
  return fmt::format("  and {} more: {:.1f}% to {:.1f}%, {} without a byte\n", others.size(), least * 100, most * 100,
                     idle);
}

// Each switch's uplinks: how evenly the hash spreads.
void add_uplinks(std::string& out, const Json& links) {
  std::map<std::string, Uplinks> of_switch;
  std::vector<std::string> order;
  for (const auto& [from, link] : links.items()) {
    if (!link.contains("share")) continue;
    const std::string name = from.substr(0, from.find(':'));
    const std::string to = link["to"].get<std::string>();
    if (!of_switch.contains(name)) order.push_back(name);
    of_switch[name].emplace_back(to.substr(0, to.find(':')), number(link["share"]));
  }
  std::erase_if(order, [&](const std::string& name) {
    return std::ranges::all_of(of_switch[name], [](const auto& link) { return link.second == 0; });
  });
  if (order.empty()) return;
  out += "\nHow ECMP spread the bytes of each switch over its uplinks (even would be the same in each)\n";
  for (size_t i = 0; i < std::min(order.size(), kSwitchesShown); ++i) {
    out += fmt::format("  {:<10}", order[i]);
    const auto& uplinks = of_switch[order[i]];
    for (size_t u = 0; u < std::min(uplinks.size(), kUplinksShown); ++u) {
      out += fmt::format("  {} {:.1f}%", uplinks[u].first, uplinks[u].second * 100);
    }
    out += uplinks.size() > kUplinksShown ? other_uplinks(uplinks) : "\n";
  }
  if (order.size() > kSwitchesShown) out += fmt::format("  and {} more switches\n", order.size() - kSwitchesShown);
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

// What of softspine is wrong.
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
    table.add({name, how, fmt::format("{:.1f} s", number(command["seconds"])), command["stdout"].get<std::string>()});
  }
  out += "\n" + table.text();
}

}  // namespace

bool is_loss(const std::string& reason) {
  return !reason.ends_with("consumed");
}

std::string short_number(double value, const char* unit) {
  static constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t prefix = 0;
  while (std::abs(value) >= 1000 && prefix + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++prefix;
  }
  const int places = prefix == 0 ? 0 : std::max(0, 2 - static_cast<int>(std::log10(std::max(std::abs(value), 1.0))));
  const std::string tail = std::string(kPrefixes[prefix]) + unit;
  return fmt::format("{:.{}f}{}{}", value, places, tail.empty() ? "" : " ", tail);
}

std::string short_time(const Json& picoseconds) {
  if (!picoseconds.is_number()) return "–";
  double value = picoseconds.get<double>();
  for (const char* unit : {"ps", "ns", "us", "ms"}) {
    if (std::abs(value) < 1000) return fmt::format("{:.4g} {}", value, unit);
    value /= 1000;
  }
  return fmt::format("{:.4g} s", value);
}

std::string summary_text(const Json& report) {
  std::string out;
  add_head(out, report);
  add_flows(out, report["flows"]);
  add_edges(out, report["edges"]);
  add_commands(out, report);
  add_uplinks(out, report["links"]);
  out += losses_text(report);
  add_stalled(out, report);
  out += events_text(report);
  out += paused_ports_text(report);
  if (!report["notices"].empty()) out += "\n";
  for (const Json& notice : report["notices"]) out += "Notice: " + notice.get<std::string>() + "\n";
  add_errors(out, report["errors"]);
  add_troubles(out, report);
  return out;
}

}  // namespace softspine::tools
