// SPDX-License-Identifier: Apache-2.0
#include "control/report/map_numbers.hpp"

#include <algorithm>

#include "dataplane/units/rate.hpp"

namespace softspine::control {

MapNumbers::MapNumbers(const Fabric& fabric) : fabric_(fabric) {
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    first_.push_back(first_.back() + static_cast<uint32_t>(fabric.nodes[n].ports.size()));
    nodes_[fabric.nodes[n].name] = n;
  }
}

std::optional<uint32_t> MapNumbers::find(const std::string& node, const std::string& port) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return std::nullopt;
  const auto& ports = fabric_.nodes[found->second].ports;
  const auto at = std::ranges::find(ports, port, &FabricPort::name);
  if (at == ports.end()) return std::nullopt;
  return first_[found->second] + static_cast<uint32_t>(at - ports.begin());
}

uint64_t wire_bytes(const dataplane::LinkCounters& link) {
  return link.bytes + link.packets * dataplane::kWireOverheadBytes;
}

}  // namespace softspine::control
