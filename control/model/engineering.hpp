// SPDX-License-Identifier: Apache-2.0
// Overrides of routes at switches, and the controller that computes some (control/engineering).
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "control/document/error.hpp"
#include "control/model/address.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// A packet that arrives at `in_port` of a switch for a destination in `to` leaves by `out_port`, which is a next hop of
// each route to `to` while all links are up; a LAG's first port stands for the LAG. If several overrides match a
// packet, the one with the longest prefix applies.
struct Override {
  uint32_t node = 0;
  uint16_t in_port = 0;
  uint16_t out_port = 0;
  std::variant<Ipv4Prefix, Ipv6Prefix> to;
  bool is_engineered = false;  // by the controller; else by the file, whose overrides take precedence
  Place place = {};

  friend bool operator==(const Override& a, const Override& b) {
    return a.node == b.node && a.in_port == b.in_port && a.out_port == b.out_port && a.to == b.to &&
           a.is_engineered == b.is_engineered;
  }
};

// The most overrides of the file at one switch; the controller may add as many again.
inline constexpr uint32_t kMaxOverrides = 4'096;

struct EngineeringConfig {
  dataplane::Duration interval = dataplane::Duration::ms(1);  // from one measurement to the next
  dataplane::Duration delay = dataplane::Duration::us(10);    // from a measurement to its plan at the switches
  std::vector<uint32_t> switches;                             // ToRs whose hosts' flows it places, ascending
  double utilisation = 1;                                     // of a link, that placed flows may fill
};

}  // namespace softspine::control
