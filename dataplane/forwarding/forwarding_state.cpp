// SPDX-License-Identifier: Apache-2.0
#include "dataplane/forwarding/forwarding_state.hpp"

#include <algorithm>

namespace softspine::dataplane {

QosMaps azure_maps(uint32_t queue_limit_bytes) {
  QosMaps maps;
  maps.dscp_to_tc = kAzureDscpToTc;
  maps.queue_limit_bytes.fill(queue_limit_bytes);
  return maps;
}

const Vlan* ForwardingState::vlan(uint16_t id) const noexcept {
  const auto it = std::ranges::lower_bound(vlans, id, {}, &Vlan::id);
  return it != vlans.end() && it->id == id ? &*it : nullptr;
}

}  // namespace softspine::dataplane
