// SPDX-License-Identifier: Apache-2.0
// Plans a fabric's addresses; the same fabric always gets the same ones.
//
//   hosts      that are attached to the same switches, and are in one VLAN there, share a subnet. Planned ones come
//              from 10.0.1.0 upwards, a /24 each (shorter where more than 253 hosts need it), and fd00:0:0:N::/64.
//              Gateway .1 and ::1, hosts from .2 and ::2 on. With `subnet` at a switch: the first of its subnets is
//              that one.
//   switches   loopback 10.255.x.y/32 and fd00:ffff::N/128
//   MACs       02:nn:nn:nn:pp:pp, node and port; a host has that of its port 0 on all ports
//
// A host's `address` must lie in its subnet, and no other node may have it.
#pragma once

#include "control/topology/expand.hpp"

namespace softspine::control {

void plan_addresses(Reader& reader, Expanded& out);

}  // namespace softspine::control
