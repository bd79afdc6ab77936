// SPDX-License-Identifier: Apache-2.0
#include "control/traffic/workload_demands.hpp"

#include <cstdint>
#include <utility>

#include "control/traffic/pairs.hpp"

namespace softspine::control {

Demands data_demands_of(const Workload& workload) {
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
