// SPDX-License-Identifier: Apache-2.0
// LAGs between switches: which links each has, and what keeps links from being one.
#pragma once

#include "control/document/reader.hpp"
#include "control/rows/rows.hpp"
#include "control/topology/expand.hpp"

namespace softspine::control {

// Once all nodes and links are there. Refuses members that do not join the two switches, are in two LAGs or of
// different kinds, more min_links than members, and names that a node or a port at either end has.
void join_lags(Reader& reader, const std::vector<LagRow>& rows, Fabric& fabric);

}  // namespace softspine::control
