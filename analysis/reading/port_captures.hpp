// SPDX-License-Identifier: Apache-2.0
// Flows and the ports that they left by, from captures: one file for each port, or files of several interfaces, which
// name the port. Frames that came in, by the capture, are passed over, and so is what no ECMP group forwards: what is
// not IP, multicast, and what stays on the link.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "analysis/identify/observations.hpp"

namespace softspine::analysis {

struct PortCaptures {
  std::vector<std::string> ports;  // NAME=FILE; or NAME, an interface in one of `files`
  std::vector<std::string> files;
};

struct CapturedAtPorts {
  uint64_t frames = 0;
  uint64_t came_in = 0;
  uint64_t not_routed = 0;
  uint64_t other_interfaces = 0;
  std::vector<std::string> notes;  // sentences on files that break off
};

std::expected<CapturedAtPorts, std::string> read_port_captures(const PortCaptures& captures, ObservationCollector& out);

}  // namespace softspine::analysis
