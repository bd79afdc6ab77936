// SPDX-License-Identifier: Apache-2.0
// The ports of a snapshot by their numbers in the fabric.
#pragma once

#include <cstdint>

#include "control/model/port_numbers.hpp"
#include "control/telemetry/snapshot.hpp"
#include "dataplane/units/rate.hpp"

namespace softspine::control {

// Calls see(number, port) with each port of the snapshot that the fabric has: a PortSnapshot, a HostPortSnapshot or an
// EdgeSnapshot.
template <typename See>
void each_port(const PortNumbers& numbers, const FabricSnapshot& snapshot, See&& see) {
  const auto show = [&](const std::string& node, const std::string& name, const auto& port) {
    if (const auto number = numbers.find(node, name)) see(*number, port);
  };
  for (const SwitchSnapshot& node : snapshot.switches) {
    for (const PortSnapshot& port : node.ports) show(node.name, port.name, port);
  }
  for (const HostSnapshot& host : snapshot.hosts) {
    for (const HostPortSnapshot& port : host.ports) show(host.name, port.name, port);
  }
  for (const EdgeSnapshot& edge : snapshot.edges) show(edge.name, edge.port, edge);
}

// With preamble, FCS and gap.
inline uint64_t wire_bytes(const dataplane::LinkCounters& link) {
  return link.bytes + link.packets * dataplane::kWireOverheadBytes;
}

}  // namespace softspine::control
