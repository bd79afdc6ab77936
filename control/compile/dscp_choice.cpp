// SPDX-License-Identifier: Apache-2.0
#include "control/compile/dscp_choice.hpp"

#include <algorithm>
#include <vector>

#include "control/compile/service.hpp"
#include "control/traffic/workload_demands.hpp"

namespace softspine::control {

void choose_dscps(Testbed& testbed) {
  const bool may_be_lossless = std::ranges::any_of(
      testbed.profiles, [](const Profile& profile) { return profile.qos && profile.qos->has_buffers(); });
  if (!may_be_lossless) return;
  std::vector<Workload*> open;
  std::vector<Demands> demands;
  for (Workload& workload : testbed.workloads) {
    if (workload.dscp_given) continue;
    open.push_back(&workload);
    demands.push_back(demands_of(workload));
  }
  if (open.empty()) return;
  const std::vector<Ways> ways = find_ways(testbed.fabric, demands);
  const ServiceBook book(testbed);
  for (size_t i = 0; i < open.size(); ++i) {
    // Hosts that are linked back to back have no switch between them that could drop.
    const bool by_switch =
        std::ranges::any_of(ways[i].senders, [&](LinkEnd sender) { return book.at(sender, 0).group.has_value(); });
    if (!by_switch) continue;
    for (uint8_t dscp = 0; dscp < kDscps; ++dscp) {
      if (!book.is_lossless(ways[i], dscp)) continue;
      open[i]->dscp = dscp;
      if (!open[i]->ack_dscp_given) open[i]->transport.ack_dscp = dscp;
      break;
    }
  }
}

}  // namespace softspine::control
