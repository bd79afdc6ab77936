// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/notices.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace softspine::control {

namespace {

// In the names that DPDK's drivers and we ourselves give to what goes wrong.
constexpr std::array<std::string_view, 4> kTrouble{"error", "missed", "allocation", "offender"};

bool is_trouble(std::string_view statistic) {
  return std::ranges::any_of(kTrouble, [&](std::string_view word) { return statistic.contains(word); });
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
  }
  for (const EdgeSnapshot& edge : snapshot.edges) {
    for (const auto& [name, count] : edge.statistics) {
      if (is_trouble(name)) add(edge.name + ":" + edge.port, count, name);
    }
  }
  return out;
}

}  // namespace softspine::control
