// SPDX-License-Identifier: Apache-2.0
// Compiles SONiC's tables into a switch's QosPlan: sizes become cells, rows of ports ports, names masks. Pure.
//
//   cells        sizes rounded up to whole cells, as Broadcom's SDK does it; pools rounded down,
//                but for the egress pools of some chips (PlatformRow::pools_whole)
//   PG           reserved = size, less the headroom if that is inside (qos.hpp); headroom = xoff, or by the
//                formula for this port (dataplane/buffer/headroom.hpp) if it is `auto`
//   pool shared  size: SONiC's tables have already subtracted what groups reserve (buffer_pool_mellanox.lua). Where
//                ingress_pool_size is `total` (Trident 2): size − what all ports reserve in it, headroom inside
//                included
//   pool headroom = xoff: the shared headroom pool, beside its size
//   slices       pools are numbered pool × slices + slice, each with size / slices and xoff / slices. Ports are dealt
//                to slices in equal blocks, in their order, unless PORT_SLICE deals them; what comes in by a port
//                lies in its slice
//   without BUFFER_* tables: a limit per queue and nothing shared, so no XOFF is ever raised
//   PG, queue without a row: it admits nothing (check_qos finds those that are in use), unless there is no pool
//                in that direction at all: then it admits everything
//   packets that the switch itself makes are charged to the pool of its first lossy PG, without a limit of their own
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "control/compile/port_shape.hpp"
#include "control/model/fabric.hpp"
#include "control/model/qos.hpp"
#include "dataplane/egress/qos_plan.hpp"

namespace softspine::control {

struct Profile;

std::vector<PortShape> port_shapes(const Fabric& fabric, const std::vector<Profile>& profiles, uint32_t node);

// The bytes that may come after the host at this end of a link has raised XOFF.
uint32_t host_headroom(const Fabric& fabric, const std::vector<Profile>& profiles, LinkEnd host);

// The headroom that the formula demands, in cells, if no frame is smaller than `smallest_frame` bytes.
uint64_t headroom_needed(const PortShape& port, uint32_t cell_bytes, uint32_t smallest_frame);

// The demand of all ports of a switch together on one pool, in cells.
struct PoolDemand {
  uint64_t size = 0;
  uint64_t reserved = 0;         // headroom inside their sizes included
  uint64_t headroom = 0;         // of all lossless groups, summed up
  uint64_t shared_headroom = 0;  // the pool's xoff
  bool fits = true;              // of a pool that is computed: something is left for it
};
// One for each of QosConfig::pools, in their order.
std::vector<PoolDemand> pool_demands(const QosConfig& config, const std::vector<PortShape>& ports);

// `profile` must have a QosConfig that check_qos() has accepted for these ports.
std::shared_ptr<const dataplane::QosPlan> compile_qos(const Profile& profile, const std::vector<PortShape>& ports);

}  // namespace softspine::control
