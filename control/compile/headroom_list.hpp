// SPDX-License-Identifier: Apache-2.0
// The lossless priority groups of a testbed's switches with their headroom: the tables' value, the formula's, and that
// of SONiC's calculator for a Spectrum with such cells. Groups that SONiC's buffermgrd would add are
// among them, with the name that it would give their profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/compile/sonic_headroom.hpp"
#include "control/model/testbed.hpp"

namespace softspine::control {

struct HeadroomRow {
  std::string node;     // the first whose profile this is
  std::string profile;  // of the switch
  std::string buffer_profile;
  bool added = false;               // by buffermgrd's rule, not by a row of BUFFER_PG
  std::vector<std::string> groups;  // "Ethernet0|3": of the node, all alike
  dataplane::Rate rate;             // of the link
  dataplane::Duration propagation;
  uint32_t mtu = 0;
  uint64_t xoff = 0;   // bytes, in whole cells
  uint64_t exact = 0;  // likewise
  SonicHeadroom sonic;
};

// The headrooms of one switch of each profile, in the order of ports and groups.
std::vector<HeadroomRow> headrooms_of(const Testbed& testbed);

}  // namespace softspine::control
