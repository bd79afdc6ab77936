// SPDX-License-Identifier: Apache-2.0
// SONiC's tables of LAGs, as a config_db.json has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "control/document/document.hpp"

namespace softspine::control {

// "auto", or a number.
struct LacpKey {
  std::optional<uint16_t> number;
};

struct PortChannelRow {
  Value where;
  std::optional<uint32_t> min_links;
  std::optional<bool> fast_rate;
  std::optional<LacpKey> lacp_key;
};

// "PortChannel101|Ethernet0".
struct ChannelMember {
  std::string channel;
  std::string port;
};
struct ChannelMemberRow {
  Value where;
};

}  // namespace softspine::control
