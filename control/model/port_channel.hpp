// SPDX-License-Identifier: Apache-2.0
// A LAG as a switch's own configuration has it: SONiC's PORTCHANNEL and PORTCHANNEL_MEMBER. These tables do not name
// the other end: control/topology/port_channels.hpp finds it by the fabric's links, and makes a LAG of the port
// channels at both ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/document/error.hpp"

namespace softspine::control {

struct PortChannel {
  struct Member {
    std::string port;
    Place place;
  };
  std::string name;
  Place place;
  std::vector<Member> members;
  uint32_t min_links = 1;
  bool fast_rate = false;
  uint16_t lacp_key = 0;
};

}  // namespace softspine::control
