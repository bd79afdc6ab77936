// SPDX-License-Identifier: Apache-2.0
// The steps that every imported topology needs once its nodes and links are read.
//
// Rules of the user first. Then nodes that the file leaves open: a node with one link, or with links to switches alone,
// is a host; any other forwards, so it is a switch. Then the role of each switch that has none, by its distance from
// the nearest host: 1 a ToR, 2 an aggregation switch, 3 and more a core; without any host in reach a ToR. Last the
// names of nodes and ports (foreign_names.hpp).
// A node without a link is left out, and noted.
#pragma once

#include "control/document/reader.hpp"
#include "control/imports/foreign_topology.hpp"

namespace softspine::control {

// False if something is wrong, which is then reported.
bool complete(Reader& reader, const ImportOptions& options, ForeignTopology& topology);

}  // namespace softspine::control
