// SPDX-License-Identifier: Apache-2.0
#include "control/traffic/workload_packets.hpp"

#include <algorithm>
#include <set>

namespace softspine::control {

std::vector<uint8_t> dscps_of(const Workload& workload) {
  if (workload.flows.empty()) return {workload.dscp};
  std::set<uint8_t> out;
  for (const ListedFlow& flow : workload.flows) out.insert(flow.dscp.value_or(workload.dscp));
  return {out.begin(), out.end()};
}

uint64_t largest_message(const Workload& workload) {
  uint64_t out = workload.message_bytes;
  for (const ListedFlow& flow : workload.flows) out = std::max(out, flow.bytes);
  return out;
}

}  // namespace softspine::control
