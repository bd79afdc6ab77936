// SPDX-License-Identifier: Apache-2.0
// Sizes of buffer pools that a switch's tables leave open, as SONiC's dynamic buffer model computes them for the ports
// that a switch has here. Source: sonic-swss, buffer_pool_mellanox.lua. KiB are 1,024 bytes.
//
//   memory     the size of egress_lossless_pool, which is the switch's whole memory
//   occupied   sizes of the profiles of all groups and queues; for each lossy group 19 KiB beside its size (the
//              pipeline's latency; one KiB less than twice that with eight lanes);
//              sizes of the profiles of ports as a whole, lossy ones of ingress pools excepted;
//              for each port as much as a lossy group's 19 KiB again (control traffic), and 10 KiB for mirrors;
//              256 KiB for the processor's port
//              with a shared headroom pool: 10 KiB for each port with lossless groups
//   shared     headroom pool: given, or what xon + xoff of all groups exceed their sizes by, less these 10 KiB of each
//              port, divided by over_subscribe_ratio; 640 KiB if that is nothing, or if sizes hold no headroom though
//              no ratio is given
//   a pool     memory − occupied − shared; half of it, if several ingress pools are to be computed; or `percentage`
// All ports of the fabric count as up, and no others: SONiC takes back what ports that are down have.
#pragma once

#include <cstdint>
#include <vector>

#include "control/compile/port_shape.hpp"
#include "control/model/qos.hpp"

namespace softspine::control {

struct PoolSizes {
  uint64_t size = 0;
  uint64_t xoff = 0;
  bool fits = true;  // computed: the ports do not demand more than there is
};

// One for each of QosConfig::pools, in their order; for pools that are not computed, the tables' sizes.
std::vector<PoolSizes> pool_sizes(const QosConfig& config, const std::vector<PortShape>& ports);

}  // namespace softspine::control
