// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "control/model/fabric.hpp"

namespace softspine::tests {

// Hosts 0, 1 and 2 at ports 0, 1 and 2 of switch 3.
inline control::Fabric star_of_three() {
  control::Fabric out;
  for (uint32_t n = 0; n < 4; ++n) {
    control::FabricNode& node = out.nodes.emplace_back();
    node.name = n < 3 ? "h" + std::to_string(n) : "tor";
    node.kind = n < 3 ? control::NodeKind::kHost : control::NodeKind::kSwitch;
  }
  for (uint16_t n = 0; n < 3; ++n) {
    out.nodes[n].ports = {{.name = "eth0", .mac = {}, .link = n}};
    out.nodes[3].ports.push_back({.name = "p" + std::to_string(n), .mac = {}, .link = n});
    control::FabricLink& link = out.links.emplace_back();
    link.a = {n, 0};
    link.b = {3, n};
    link.rate = dataplane::Rate::gbps(8);  // a nanosecond a byte
    link.propagation = dataplane::Duration::ns(10);
  }
  return out;
}

}  // namespace softspine::tests
