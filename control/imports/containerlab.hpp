// SPDX-License-Identifier: Apache-2.0
// containerlab's topologies (NAME.clab.yml), as far as nodes and links go.
//
// Nodes: their kind, their own or that of their group or of `defaults`, decides by a table what they become. `linux` is
// a host or a router, by its links. A kind that is not in the table is noted and left out; a rule can map it.
// Links: `endpoints` of two "NODE:INTERFACE", or of two maps with `node` and `interface`; `mtu`. Links of other types
// (host, mgmt-net, macvlan, vxlan, dummy) lead out of the lab: noted and left out. The file has no rates and lengths:
// those of the options.
// All other keys describe what runs in a node, not the fabric: they are noted.
#pragma once

#include "control/document/reader.hpp"
#include "control/imports/foreign_topology.hpp"

namespace softspine::control {

// False if something is wrong, which is then reported.
bool read_containerlab(Reader& reader, const ImportFile& file, const ImportOptions& options, ForeignTopology& out);

}  // namespace softspine::control
