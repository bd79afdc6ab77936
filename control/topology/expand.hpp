// SPDX-License-Identifier: Apache-2.0
// From a file's nodes and links to a Fabric: generated and explicit nodes together, ports named and
// numbered, everything in the fabric's order. Addresses come after (address_plan.hpp).
//
// A node that a generator made and the file names too is one node: the file adds to it.
// An endpoint without a port takes the node's next free one: Ethernet0, Ethernet4, … at a switch, eth0, … at a host.
#pragma once

#include <vector>

#include "control/document/reader.hpp"
#include "control/model/fabric.hpp"
#include "control/model/profile.hpp"
#include "control/rows/rows.hpp"

namespace softspine::control {

// A link on which frames arrive damaged, either way, from the start.
struct DamagedLink {
  uint32_t link = 0;
  uint64_t millionths = 0;
};

struct Expanded {
  Fabric fabric;
  std::vector<DamagedLink> damaged;   // of an imported file
  std::vector<const NodeRow*> rows;   // by node; null: generated, and the file adds nothing
  std::vector<const BondRow*> bonds;  // by node; null: its generator gives none
  std::vector<const VlanRow*> vlans;  // likewise
  std::vector<StagedFabric> staged;
  bool names_known = true;  // false: the fabric could not be read, so an unknown name may be one of its nodes
};

Expanded expand(Reader& reader, const TestbedRow& row, const std::vector<Profile>& profiles);

}  // namespace softspine::control
