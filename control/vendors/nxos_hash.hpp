// SPDX-License-Identifier: Apache-2.0
// Cisco NX-OS' lines on hashing, whose words stand in any number:
//
//   ip load-sharing address {source-destination | destination} [port {source-destination | destination}]
//       [universal-id SEED] [rotate N] [concatenation] …
//   port-channel load-balance {src-dst | src | dst} {ip | l4port | ip-l4port | ip-vlan | ip-l4port-vlan | mac}
//
// Source: Cisco's command reference of the Nexus 9000. `rotate`, `concatenation` and the words on tunnels change the
// hash in ways that it does not publish: such lines are taken without them.
#pragma once

#include <string_view>

#include "control/vendors/hash_reading.hpp"

namespace softspine::control {

void read_nxos(std::string_view text, HashReading& out);

}  // namespace softspine::control
