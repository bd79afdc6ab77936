// SPDX-License-Identifier: Apache-2.0
#include "control/traffic/workload_demands.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "control/traffic/pairs.hpp"

namespace softspine::control {
namespace {

// A list may have a million flows, of which many have the same ends.
Demands by_source(const Workload& workload) {
  std::map<uint32_t, std::vector<uint32_t>> receivers;
  for (size_t i = 0; i < workload.from.size(); ++i) receivers[workload.from[i]].push_back(workload.to[i]);
  Demands out;
  for (auto& [from, to] : receivers) {
    std::ranges::sort(to);
    to.erase(std::ranges::unique(to).begin(), to.end());
    out.push_back({{from}, std::move(to)});
  }
  return out;
}

}  // namespace

Demands data_demands_of(const Workload& workload) {
  if (is_listed(workload.pattern)) return by_source(workload);
  Demands out;
  pairs_of(workload, [&](const Senders<uint32_t>& senders) {
    out.push_back({{senders.from.begin(), senders.from.end()}, {senders.to.begin(), senders.to.end()}});
  });
  return out;
}

Demands demands_of(const Workload& workload) {
  if (workload.transport.kind != TransportKind::kReliable) return data_demands_of(workload);
  Demands out;
  for (Demand& data : data_demands_of(workload)) {
    out.push_back({data.to, data.from});
    out.push_back(std::move(data));
  }
  return out;
}

}  // namespace softspine::control
