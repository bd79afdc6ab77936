// SPDX-License-Identifier: Apache-2.0
#include "control/imports/traffic_text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "dataplane/forwarding/azure_maps.hpp"

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

// One that the AZURE maps give this traffic class; 0: they give none.
int azure_dscp_of(uint8_t priority) {
  const auto& map = dataplane::kAzureDscpToTc;
  if (map[priority] == priority) return priority;
  const auto* found = std::ranges::find(map, priority);
  return found == map.end() ? 0 : static_cast<int>(found - map.begin());
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

}  // namespace

std::string traffic_text(const ForeignTopology& topology, const ForeignTraffic& traffic) {
  std::string out = ns3_run_text(topology, traffic);
  out += ns3_profile_text(topology, traffic);
  if (traffic.flows.empty()) return out + "\n# No workload: the file has no flow.\n";
  out += "\nworkload:\n";
  const std::string control =
      traffic.congestion_control.empty() ? "" : ", congestion_control: " + traffic.congestion_control;
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
