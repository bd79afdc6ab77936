// SPDX-License-Identifier: Apache-2.0
// A LAG as a switch's own configuration has it: SONiC's PORTCHANNEL and PORTCHANNEL_MEMBER. The other end is not in
// that configuration; LAGs of the fabric are made of port channels where links are
// (control/topology/port_channels.hpp).
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
