// SPDX-License-Identifier: Apache-2.0
// Compiles SONiC's tables into a switch's QosPlan: sizes become cells, rows of ports ports, names masks. Pure.
//
//   cells        sizes rounded down to whole cells (a part of a cell can't be used); xon_offset rounded up
//   PG           reserved = size, less the headroom if that is inside (qos.hpp); headroom = xoff, or by the
//                formula for this port (dataplane/buffer/headroom.hpp) if it is `auto`
//   pool shared  size − what all ports reserve in it, headroom inside the size included (SAI's SHARED_SIZE)
//   pool headroom = xoff: the shared headroom pool, beside its size
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

#include "control/model/fabric.hpp"
#include "control/model/qos.hpp"
#include "dataplane/egress/qos_plan.hpp"

namespace softspine::control {

struct Profile;

// The properties of a port that its buffers depend on.
struct PortShape {
  std::string name;
  MacAddress mac;
  dataplane::Rate rate;
  dataplane::Duration propagation;  // one way
  uint32_t largest_frame = 0;       // bytes without FCS, a VLAN tag included
  FlowControl flow_control = FlowControl::kPfc;
};

std::vector<PortShape> port_shapes(const Fabric& fabric, uint32_t node);

// Bytes that a frame has beside its IP packet, at most: the Ethernet header and one VLAN tag.
inline constexpr uint32_t kFrameOverhead = 18;

// The headroom that the formula demands, in cells, if no frame is smaller than `smallest_frame` bytes.
uint64_t headroom_needed(const PortShape& port, uint32_t cell_bytes, uint32_t smallest_frame);

// What all ports of a switch together demand of one pool, in cells.
struct PoolDemand {
  uint64_t size = 0;
  uint64_t reserved = 0;         // headroom inside the size included
  uint64_t headroom = 0;         // of all lossless groups, summed up
  uint64_t shared_headroom = 0;  // the pool's xoff
};
// One for each of QosConfig::pools, in their order.
std::vector<PoolDemand> pool_demands(const QosConfig& config, const std::vector<PortShape>& ports);

// `profile` must have a QosConfig that check_qos() has accepted for these ports.
std::shared_ptr<const dataplane::QosPlan> compile_qos(const Profile& profile, const std::vector<PortShape>& ports);

}  // namespace softspine::control
