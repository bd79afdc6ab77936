// SPDX-License-Identifier: Apache-2.0
// The ports of a host that has two, each with the switch's port before it: whether both carry their share.
#pragma once

#include <map>
#include <string>

#include "control/report/report_fields.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/totals.hpp"

namespace softspine::control {

class NicPorts {
 public:
  // `snapshot` outlives this.
  explicit NicPorts(const FabricSnapshot& snapshot);
  // By port: hosts.*.ports. Nothing for a host with one port.
  Json of(const HostSnapshot& host) const;

 private:
  std::map<std::string, LinkDirection> to_;                  // by the host's port: what its switch sends there
  std::map<std::string, const PortSnapshot*> switch_ports_;  // by name, of those
};

std::vector<ReportField> nic_port_fields();

// `softspine show nic-ports`: hosts.*.ports of every host that has two, and a row for each port.
Json nic_ports_json(const FabricSnapshot& snapshot);
std::string nic_ports_table(const FabricSnapshot& snapshot);

}  // namespace softspine::control
