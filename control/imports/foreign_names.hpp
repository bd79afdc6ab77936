// SPDX-License-Identifier: Apache-2.0
// Names for the nodes and ports of an imported topology, once each node's role is known (completion.hpp).
//
// Numbered nodes are called after what they are (h7, tor320), others as in their file, without what our names cannot
// have; a node or port that is called otherwise than in its file is noted. Ports that the file does not name are
// Ethernet0, Ethernet4, … at switches, eth0, … at hosts. Two nodes or two ports of a node with one name are an error.
#pragma once

#include "control/document/reader.hpp"
#include "control/imports/foreign_topology.hpp"

namespace softspine::control {

void give_names(Reader& reader, ForeignTopology& topology);

}  // namespace softspine::control
