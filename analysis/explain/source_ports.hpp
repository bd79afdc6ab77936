// SPDX-License-Identifier: Apache-2.0
// Source ports whose paths share no link between switches, as HPN's hosts choose theirs: by walking every port.
//
// Greedy in the order of the ports: a port is taken if its path shares no link with those already found. Where one
// path's links cut all others, this finds fewer ports than possible. The shortest paths of a Clos, each of which meets
// its own switches, are not such a case.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/explain/probe.hpp"
#include "analysis/explain/walker.hpp"

namespace softspine::analysis {

struct FoundPath {
  uint16_t source_port = 0;
  std::vector<control::LinkEnd> links;  // between switches, from the sender's side
};

struct PortSearch {
  std::vector<FoundPath> disjoint;  // by source port
  uint32_t ports_tried = 0;
  uint32_t paths_reached = 0;  // distinct paths of the ports that were tried
  uint64_t paths_there = 0;    // that any hash could choose: the search space
};

// The links that a path takes between switches, as their senders' ends: of a group that draws, all that it draws among.
std::vector<control::LinkEnd> links_between_switches(const control::Fabric& fabric, const Path& path);

// At most `wanted` of them. Ports 49152 … 65535, as RoCEv2 uses them.
PortSearch disjoint_source_ports(Walker& walker, const Probe& probe, uint32_t wanted);

}  // namespace softspine::analysis
