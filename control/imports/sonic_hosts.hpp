// SPDX-License-Identifier: Apache-2.0
// The subnets of the hosts on a SONiC switch: VLAN_INTERFACE|VLAN|ADDRESS/LENGTH of its one VLAN.
#pragma once

#include <string>
#include <vector>

#include "control/document/document.hpp"

namespace softspine::control {

struct SonicHosts {
  std::vector<std::string> subnets;  // one of IPv4, one of IPv6, or less
  std::string left_out;              // why there are none, though there are interfaces of VLANs
  Value at;                          // which it is about
};

SonicHosts read_sonic_hosts(Value root);

}  // namespace softspine::control
