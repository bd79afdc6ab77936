// SPDX-License-Identifier: Apache-2.0
// The VLANs of one ToR: a subnet of hosts each, with the number that the file gives it, or else the next from 1000 on
// that the file gives to none of the ToR's subnets. That one is seen nowhere but in the key of a hash.
#pragma once

#include <cstdint>
#include <vector>

#include "control/model/fabric.hpp"
#include "dataplane/forwarding/forwarding_state.hpp"

namespace softspine::control {

class SwitchVlans {
 public:
  // `subnets`: all that the switch is a gateway of. `fabric` outlives this.
  SwitchVlans(const Fabric& fabric, uint32_t node, const std::vector<uint32_t>& subnets);

  // `ports`: where the subnet's hosts are, ascending. Returns the VLAN's number.
  uint16_t add(const Subnet& subnet, const std::vector<uint16_t>& ports, dataplane::ForwardingState& state);

 private:
  uint16_t number_of(const Subnet& subnet);

  const Fabric& fabric_;
  uint32_t node_;
  std::vector<uint16_t> given_;
  uint16_t next_;
};

}  // namespace softspine::control
