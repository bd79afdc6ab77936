// SPDX-License-Identifier: Apache-2.0
// Ports of all nodes, numbered through in the order of the fabric: a port's number is its index in `map`
// (fabric_map.hpp).
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "control/model/fabric.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

class MapNumbers {
 public:
  explicit MapNumbers(const Fabric& fabric);

  uint32_t size() const { return first_.back(); }
  uint32_t of(LinkEnd end) const { return first_[end.node] + end.port; }
  // By names, as snapshots have them.
  std::optional<uint32_t> find(const std::string& node, const std::string& port) const;

  // Calls see(number, port) with each port of the snapshot that the fabric has: a PortSnapshot, a HostPortSnapshot or
  // an EdgeSnapshot.
  template <typename See>
  void each_port(const FabricSnapshot& snapshot, See&& see) const {
    const auto show = [&](const std::string& node, const std::string& name, const auto& port) {
      if (const auto number = find(node, name)) see(*number, port);
    };
    for (const SwitchSnapshot& node : snapshot.switches) {
      for (const PortSnapshot& port : node.ports) show(node.name, port.name, port);
    }
    for (const HostSnapshot& host : snapshot.hosts) {
      for (const HostPortSnapshot& port : host.ports) show(host.name, port.name, port);
    }
    for (const EdgeSnapshot& edge : snapshot.edges) show(edge.name, edge.port, edge);
  }

 private:
  const Fabric& fabric_;
  std::vector<uint32_t> first_{0};
  std::unordered_map<std::string, uint32_t> nodes_;
};

// With preamble, FCS and gap.
uint64_t wire_bytes(const dataplane::LinkCounters& link);

}  // namespace softspine::control
