// SPDX-License-Identifier: Apache-2.0
#include "control/report/notices.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "control/telemetry/totals.hpp"

namespace softspine::control {

namespace {

// In the names that DPDK's drivers and we ourselves give to what goes wrong.
constexpr std::array<std::string_view, 4> kTrouble{"error", "missed", "allocation", "offender"};

bool is_trouble(std::string_view statistic) {
  return std::ranges::any_of(kTrouble, [&](std::string_view word) { return statistic.contains(word); });
}

// A queue's counter does not hold the reasons of its drops: the switch's counters do.
void add_early_drops(const SwitchSnapshot& node, std::vector<std::string>& out) {
  const dataplane::DropCounters drops = totals_of(node).drops;
  const uint64_t early = drops[static_cast<size_t>(dataplane::DropReason::kWredDropped)];
  if (early == 0) return;
  const uint64_t full = drops[static_cast<size_t>(dataplane::DropReason::kQueueFull)];
  for (const PortSnapshot& port : node.ports) {
    for (size_t q = 0; q < port.counters.queues.size(); ++q) {
      const uint64_t dropped = port.counters.queues[q].dropped_packets;
      if (dropped == 0 || (port.pausable_queues >> q & 1) == 0) continue;
      out.push_back(node.name + ":" + port.name + " queue " + std::to_string(q) +
                    " is paused by PFC, but WRED dropped " + (full == 0 ? "" : "at most ") +
                    std::to_string(std::min(dropped, early)) +
                    " packets there: they were not ECN-capable, or its profile marks nothing");
    }
  }
}

}  // namespace

std::vector<std::string> notices_of(const FabricSnapshot& snapshot) {
  std::vector<std::string> out;
  const auto add = [&out](const std::string& who, uint64_t count, const std::string& what) {
    if (count != 0) out.push_back(who + ": " + std::to_string(count) + " " + what);
  };
  for (const SwitchSnapshot& node : snapshot.switches) {
    add(node.name, node.fdb_evictions, "MAC addresses forgotten, since the FDB was full");
    add(node.name, node.neighbour_refusals, "neighbours not learned, since the table was full");
    add_early_drops(node, out);
  }
  for (const EdgeSnapshot& edge : snapshot.edges) {
    for (const auto& [name, count] : edge.statistics) {
      if (is_trouble(name)) add(edge.name + ":" + edge.port, count, name);
    }
  }
  return out;
}

}  // namespace softspine::control
