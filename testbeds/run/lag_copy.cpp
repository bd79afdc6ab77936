// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/lag_copy.hpp"

#include <algorithm>

#include "control/rows/row_formats.hpp"

namespace softspine::testbeds {

namespace {

control::LagEndSnapshot end_of(const control::Fabric& fabric, const control::Lag& lag, uint32_t node,
                               const std::vector<bool>& members, const control::FabricSnapshot& snapshot) {
  control::LagEndSnapshot out{.node = fabric.nodes[node].name, .members = {}};
  const auto from = std::ranges::find(snapshot.switches, out.node, &control::SwitchSnapshot::name);
  for (const uint16_t port : lag.ports_at(node)) {
    const control::FabricPort& its = fabric.nodes[node].ports[port];
    control::LagMemberSnapshot member{.port = its.name, .is_member = its.link < members.size() && members[its.link]};
    if (from != snapshot.switches.end() && port < from->ports.size()) {
      member.tx_packets = from->ports[port].counters.tx_packets;
      member.tx_bytes = from->ports[port].counters.tx_bytes;
    }
    out.members.push_back(std::move(member));
  }
  return out;
}

}  // namespace

void copy_lags(const control::Fabric& fabric, const std::vector<bool>& members, control::FabricSnapshot& out) {
  for (const control::Lag& lag : fabric.lags) {
    control::LagSnapshot copy{
        .name = lag.name, .mode = std::string(control::word_of(lag.mode)), .min_links = lag.min_links, .ends = {}};
    for (const uint32_t node : lag.nodes) copy.ends.push_back(end_of(fabric, lag, node, members, out));
    out.lags.push_back(std::move(copy));
  }
}

}  // namespace softspine::testbeds
