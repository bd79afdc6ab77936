// SPDX-License-Identifier: Apache-2.0
// From SONiC's tables to what a switch works by: sizes to cells, rows of ports to ports, names to masks. Pure.
//
//   cells        sizes rounded down to whole cells (what does not fill one can't be used); xon_offset up
//   group        reserved = size, less the headroom if that is inside (qos.hpp); headroom = xoff, or by the
//                formula for this port (dataplane/buffer/headroom.hpp) if it is `auto`
//   pool shared  size − what all ports reserve in it, headroom inside the size included (SAI's SHARED_SIZE)
//   pool headroom = xoff: the shared headroom pool, beside its size
//   without BUFFER_* tables: a limit per queue, nothing shared, so nobody is told to stop
//   PG, queue without a row: nothing is admitted to it (check_qos finds those that are in use), unless there is no
//                pool in that direction at all: then everything is
//   what the switch makes itself is charged to the pool of its first lossy group, without a limit of its own
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "control/model/fabric.hpp"
#include "control/model/qos.hpp"
#include "dataplane/egress/qos_plan.hpp"

namespace softspine::control {

struct Profile;

// What of a port matters to its buffers.
struct PortShape {
  std::string name;
  MacAddress mac;
  dataplane::Rate rate;
  dataplane::Duration propagation;  // one way
  uint32_t largest_frame = 0;       // bytes without FCS, a VLAN tag included
  FlowControl flow_control = FlowControl::kPfc;
};

std::vector<PortShape> port_shapes(const Fabric& fabric, uint32_t node);

// Bytes of the largest frame beside the IP packet: Ethernet and a tag.
inline constexpr uint32_t kFrameOverhead = 18;

// By the formula, in cells, for frames of `smallest_frame` bytes and more.
uint64_t headroom_needed(const PortShape& port, uint32_t cell_bytes, uint32_t smallest_frame);

// What a switch's ports take of one pool, in cells.
struct PoolDemand {
  uint64_t size = 0;
  uint64_t reserved = 0;         // headroom inside the size included
  uint64_t headroom = 0;         // of all lossless groups, summed up
  uint64_t shared_headroom = 0;  // the pool's xoff
};
// By QosConfig::pools.
std::vector<PoolDemand> pool_demands(const QosConfig& config, const std::vector<PortShape>& ports);

// `profile` has a QosConfig that check_qos found good for these ports.
std::shared_ptr<const dataplane::QosPlan> compile_qos(const Profile& profile, const std::vector<PortShape>& ports);

}  // namespace softspine::control
