// SPDX-License-Identifier: Apache-2.0
#include "control/model/port_numbers.hpp"

#include <algorithm>

namespace softspine::control {

PortNumbers::PortNumbers(const Fabric& fabric) : fabric_(fabric) {
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    first_.push_back(first_.back() + static_cast<uint32_t>(fabric.nodes[n].ports.size()));
    nodes_[fabric.nodes[n].name] = n;
  }
}

std::optional<uint32_t> PortNumbers::find(std::string_view node, std::string_view port) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return std::nullopt;
  const auto& ports = fabric_.nodes[found->second].ports;
  const auto at = std::ranges::find(ports, port, &FabricPort::name);
  if (at == ports.end()) return std::nullopt;
  return first_[found->second] + static_cast<uint32_t>(at - ports.begin());
}

std::optional<uint32_t> PortNumbers::find(std::string_view name) const {
  const size_t colon = name.find(':');
  return colon == name.npos ? std::nullopt : find(name.substr(0, colon), name.substr(colon + 1));
}

}  // namespace softspine::control
