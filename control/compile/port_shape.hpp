// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "control/model/fabric.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// Bytes that a frame has beside its IP packet, at most: the Ethernet header and one VLAN tag.
inline constexpr uint32_t kFrameOverhead = 18;

// The properties of a port that its buffers depend on.
struct PortShape {
  std::string name;
  MacAddress mac;
  dataplane::Rate rate;
  dataplane::Duration propagation;  // one way
  uint32_t largest_frame = 0;       // bytes without FCS, a VLAN tag included
  dataplane::LinkParameters link;
  dataplane::Duration response;       // how late it may obey a pause: its profile may say so instead of the link
  dataplane::Duration peer_response;  // how late the other end may
  uint32_t clock_ppm = 0;             // both ends' tolerance
};

}  // namespace softspine::control
