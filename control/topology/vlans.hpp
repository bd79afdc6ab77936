// SPDX-License-Identifier: Apache-2.0
// Each host's VLAN: its own `vlan`, or its fabric's `host_vlan`. After hosts are attached, and before addresses are
// planned: the hosts of one VLAN share a subnet.
#pragma once

#include "control/topology/expand.hpp"

namespace softspine::control {

void join_vlans(Reader& reader, Expanded& out);

}  // namespace softspine::control
