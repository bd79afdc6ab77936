// SPDX-License-Identifier: Apache-2.0
#include "control/compile/switch_vlans.hpp"

#include <algorithm>
#include <utility>

#include "control/model/stack_of.hpp"

namespace softspine::control {

namespace dp = dataplane;

namespace {

constexpr uint16_t kFirstVlan = 1000;

}  // namespace

SwitchVlans::SwitchVlans(const Fabric& fabric, uint32_t node, const std::vector<uint32_t>& subnets)
    : fabric_(fabric), node_(node), next_(kFirstVlan) {
  for (const uint32_t subnet : subnets) given_.push_back(fabric.subnets[subnet].vlan);
}

uint16_t SwitchVlans::number_of(const Subnet& subnet) {
  if (subnet.vlan != 0) return subnet.vlan;
  while (std::ranges::find(given_, next_) != given_.end()) ++next_;
  return next_++;
}

uint16_t SwitchVlans::add(const Subnet& subnet, const std::vector<uint16_t>& ports, dp::ForwardingState& state) {
  dp::Vlan vlan{.id = number_of(subnet), .members = {}};
  // A stack is one bridge; two ToRs that are not route between their hosts.
  const bool isolated = subnet.switches.size() > 1 && stack_of(fabric_, subnet) == nullptr;
  for (const uint16_t port : ports) {
    const bool tagged = fabric_.nodes[fabric_.peer_of({node_, port}).node].vlan.is_tagged;
    vlan.members.push_back({port, tagged});
    state.ports[port].isolated = isolated;
    if (tagged) {
      state.ports[port].tagged_vlans = {vlan.id};
    } else {
      state.ports[port].untagged_vlan = vlan.id;
    }
  }
  const uint16_t id = vlan.id;
  state.vlans.insert(std::ranges::lower_bound(state.vlans, id, {}, &dp::Vlan::id), std::move(vlan));
  return id;
}

}  // namespace softspine::control
