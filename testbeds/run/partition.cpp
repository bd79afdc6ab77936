// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "testbeds/run/assembly.hpp"

namespace softspine::testbeds {

using control::Fabric;
using control::FabricNode;
using control::NodeKind;

std::vector<uint32_t> spread_over_workers(const Fabric& fabric, uint32_t workers) {
  std::vector<uint32_t> out(fabric.nodes.size(), 0);
  for (const control::RoleRow& row : control::kSwitchRoles) {
    const auto is_of_tier = [&row](const FabricNode& n) { return n.kind == NodeKind::kSwitch && n.role == row.role; };
    const auto count = static_cast<uint64_t>(std::ranges::count_if(fabric.nodes, is_of_tier));
    uint64_t number = 0;
    for (size_t n = 0; n < fabric.nodes.size(); ++n) {
      if (is_of_tier(fabric.nodes[n])) out[n] = static_cast<uint32_t>(number++ * workers / count);
    }
  }
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind == NodeKind::kHost && !fabric.nodes[n].ports.empty()) {
      out[n] = out[fabric.peer_of({n, 0}).node];
    }
  }
  return out;
}

}  // namespace softspine::testbeds
