// SPDX-License-Identifier: Apache-2.0
#include "control/imports/traffic_text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "control/imports/flow_list.hpp"

namespace softspine::control {
namespace {

constexpr double kMaxSending = 3.6e15;  // an hour, in picoseconds

// The rate that most links have, and their number.
std::pair<uint64_t, size_t> usual_link_rate(const ForeignTopology& topology) {
  std::map<uint64_t, size_t> links;
  for (const ForeignLink& link : topology.links) ++links[link.rate.count_bps()];
  const auto most = std::ranges::max_element(links, {}, [](const auto& each) { return each.second; });
  return {most == links.end() ? 0 : most->first, links.size()};
}

std::string ns3_marks_text(const ForeignTopology& topology, const ForeignTraffic& traffic) {
  if (!traffic.marks) return "    WRED_PROFILE: {AZURE_LOSSLESS: {ecn: ecn_none, wred_green_enable: false}}\n";
  const auto [rate, rates] = usual_link_rate(topology);
  const auto found = traffic.marks_by_bps.find(rate);
  if (found == traffic.marks_by_bps.end()) return "    WRED_PROFILE: {AZURE_LOSSLESS: {wred_green_enable: false}}\n";
  const ForeignMarks& marks = found->second;
  const std::string others =
      rates == 1 ? "" : "  # those of " + print_quantity(static_cast<int64_t>(rate), kRateQuantity) + ", of all queues";
  return "    WRED_PROFILE: {AZURE_LOSSLESS: {ecn: ecn_all, wred_green_enable: false, green_min_threshold: " +
         std::to_string(marks.least_bytes) + "B, green_max_threshold: " + std::to_string(marks.most_bytes) +
         "B, green_drop_probability: " +
         print_quantity(std::llround(std::min(marks.probability, 1.0) * 1e6), kShareQuantity) + "}}" + others + "\n";
}

std::string ns3_profile_text(const ForeignTopology& topology, const ForeignTraffic& traffic) {
  std::string out = "\nprofiles:\n  ns3:\n    base: lossless\n";
  if (traffic.buffer_bytes)
    out += "    BUFFER_POOL: {ingress_lossless_pool: {type: ingress, size: " + std::to_string(*traffic.buffer_bytes) +
           "B}}\n";
  out += ns3_marks_text(topology, traffic);
  std::set<std::string> roles;
  for (const ForeignNode& node : topology.nodes) {
    if (const auto role = role_of(node.use)) roles.insert(name_of(*role));
  }
  std::string uses;
  for (const std::string& role : roles) uses += (uses.empty() ? "" : ", ") + role + ": ns3";
  return out + "roles: {" + uses + "}\n";
}

// Without an end: all that is sent, one after the other over the slowest link, and a second. A run that is idle ends.
std::string ns3_run_text(const ForeignTopology& topology, const ForeignTraffic& traffic) {
  if (traffic.stop_ps && *traffic.stop_ps > 0)
    return "\nrun: {duration: " + print_quantity(*traffic.stop_ps, kDurationQuantity) + "}\n";
  int64_t last = 0;
  double bytes = 0;
  for (const ForeignFlow& flow : traffic.flows) {
    last = std::max(last, flow.start_ps);
    bytes += static_cast<double>(flow.bytes);
  }
  uint64_t slowest = UINT64_MAX;
  for (const ForeignLink& link : topology.links) slowest = std::min(slowest, link.rate.count_bps());
  constexpr int64_t kSecond = 1'000'000'000'000;
  const double sending = std::min(bytes * 8e12 / static_cast<double>(slowest), kMaxSending);
  const int64_t duration = last + std::llround(sending) + kSecond;
  return "\nrun: {duration: " + print_quantity(duration, kDurationQuantity) +
         "}  # no end is given: enough for all flows\n";
}

// The hosts by the numbers that a list has for them; empty: they are not 0, 1, 2 …
std::string hosts_by_number(const ForeignTopology& topology) {
  std::map<uint32_t, const ForeignNode*> hosts;
  size_t count = 0;
  for (const ForeignNode& node : topology.nodes) {
    if (node.use != NodeUse::kHost) continue;
    ++count;
    if (node.number) hosts.emplace(*node.number, &node);
  }
  if (hosts.size() != count || hosts.empty() || hosts.rbegin()->first != count - 1) return "";
  std::string out;
  for (const auto& [number, node] : hosts) out += (out.empty() ? "" : ", ") + node->name;
  return out;
}

std::string list_text(const ForeignTraffic& traffic, const std::string& hosts, const std::string& how) {
  std::string path;
  for (const char c : traffic.list) path += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
  return "  # Its numbers are those of these hosts, from 0; its priorities give the DSCPs.\n  - {name: flows, pattern: "
         "list, format: hpcc, file: \"" +
         path + "\", zero: " + print_quantity(traffic.first_ps, kDurationQuantity) + how + ",\n     hosts: [" + hosts +
         "]}\n";
}

}  // namespace

std::string traffic_text(const ForeignTopology& topology, const ForeignTraffic& traffic) {
  std::string out = ns3_run_text(topology, traffic);
  out += ns3_profile_text(topology, traffic);
  if (traffic.flows.empty()) return out + "\n# No workload: the file has no flow.\n";
  out += "\nworkload:\n";
  const std::string control =
      traffic.congestion_control.empty() ? "" : ", congestion_control: " + traffic.congestion_control;
  const std::string how = ", verb: send, mtu: " + std::to_string(traffic.mtu) + ", transport: rc" + control;
  const std::string hosts = traffic.list.empty() ? "" : hosts_by_number(topology);
  if (!hosts.empty()) return out + list_text(traffic, hosts, how);
  for (size_t i = 0; i < traffic.flows.size(); ++i) {
    const ForeignFlow& flow = traffic.flows[i];
    out += "  - {name: f" + std::to_string(i) + ", pattern: pairs, from: " + topology.nodes[flow.from].name +
           ", to: " + topology.nodes[flow.to].name + ", message: " + std::to_string(flow.bytes) +
           "B, messages: 1, start: " + print_quantity(flow.start_ps, kDurationQuantity) +
           ", verb: send, dscp: " + std::to_string(azure_dscp_of(flow.priority)) +
           ", mtu: " + std::to_string(traffic.mtu) + ", transport: rc" + control + "}  # line " +
           std::to_string(flow.place.line) + "\n";
  }
  return out;
}

}  // namespace softspine::control
