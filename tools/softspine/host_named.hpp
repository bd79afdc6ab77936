// SPDX-License-Identifier: Apache-2.0
// A host named on the command line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "control/model/fabric.hpp"

namespace softspine::tools {

// Its number; none: no node has this name, or a switch has it.
inline std::optional<uint32_t> host_named(const control::Fabric& fabric, const std::string& name) {
  const auto found = std::ranges::find(fabric.nodes, name, &control::FabricNode::name);
  if (found == fabric.nodes.end() || found->kind != control::NodeKind::kHost) return std::nullopt;
  return static_cast<uint32_t>(found - fabric.nodes.begin());
}

}  // namespace softspine::tools
