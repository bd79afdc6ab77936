// SPDX-License-Identifier: Apache-2.0
// Finds what a file says without effect: profiles that no switch has, keys of ECMP groups that another key disables, a
// watchdog that polls too rarely or watches priorities that are never paused, faults that change nothing, rates above a
// link's.
// Each is a warning, since it may be intended (a profile for later, a run to compare with).
#pragma once

#include "control/document/reader.hpp"
#include "control/rows/rows.hpp"

namespace softspine::control {

// To be called for a file without errors.
void find_without_effect(Reader& reader, const TestbedRow& row, const Testbed& testbed,
                         const std::vector<const NodeRow*>& node_rows);

}  // namespace softspine::control
