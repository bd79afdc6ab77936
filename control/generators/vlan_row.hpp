// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "control/document/document.hpp"

namespace softspine::control {

// SONiC: VLAN_MEMBER.
enum class TaggingMode : uint8_t { kTagged, kUntagged };

// The VLAN of a host's ports: its number alone, or a map.
struct VlanRow {
  Value where;
  uint16_t id = 0;
  TaggingMode tagging_mode = TaggingMode::kTagged;
  std::optional<uint8_t> pcp;
};

}  // namespace softspine::control
