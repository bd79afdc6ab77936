// SPDX-License-Identifier: Apache-2.0
#include "control/compile/workload_demands.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace softspine::control {

Demands data_demands_of(const Workload& workload) {
  Demands out;
  const auto add = [&](std::vector<uint32_t> from, std::vector<uint32_t> to) {
    out.push_back({std::move(from), std::move(to)});
  };
  switch (workload.pattern) {
    case Pattern::kPermutation:
    case Pattern::kAllToAll: add(workload.hosts, workload.hosts); break;
    case Pattern::kIncast: add(workload.from, workload.to); break;
    case Pattern::kPairs:
      for (size_t i = 0; i < workload.from.size(); ++i) add({workload.from[i]}, {workload.to[i]});
      break;
    case Pattern::kRing:
      for (size_t i = 0; i < workload.hosts.size(); ++i) {
        add({workload.hosts[i]}, {workload.hosts[(i + 1) % workload.hosts.size()]});
      }
      break;
  }
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
