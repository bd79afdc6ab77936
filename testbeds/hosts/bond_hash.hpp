// SPDX-License-Identifier: Apache-2.0
// Which port of a bond a queue pair's packets leave by while both are in use.
//
//   active-backup   port 0
//   qp              ports in turn, by the flow's number: as mlx5 deals out the queue pairs of a RoCE LAG
//   layer2          source MAC[5] ^ destination MAC[5] ^ EtherType                                     modulo 2
//   layer2+3        h = layer2 ^ source IP ^ destination IP;          h ^= h >> 16; h ^= h >> 8        modulo 2
//   layer3+4        h = UDP ports (both) ^ source IP ^ destination IP; likewise, then h >>= 1          modulo 2
//
// The layers' hashes are those of Linux's bonding driver (bond_xmit_hash), as its documentation has them. An IPv6
// address counts as its four words, XORed. Behind a router every frame has the same two MACs: layer2 uses one port.
#pragma once

#include "testbeds/hosts/host_config.hpp"

namespace softspine::testbeds {

dataplane::PortNo bond_port(const HostConfig& host, const FlowConfig& flow);

}  // namespace softspine::testbeds
