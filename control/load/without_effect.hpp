// SPDX-License-Identifier: Apache-2.0
// What a file says and what does nothing: profiles that nobody has, keys of groups that another key switches off, a
// watchdog that looks too rarely or after what is never paused, faults that change nothing, rates above a link's.
// Each is a warning: it may be meant (a profile for later, a run to compare with).
#pragma once

#include "control/document/reader.hpp"
#include "control/rows/rows.hpp"

namespace softspine::control {

// Of a file without mistakes.
void find_without_effect(Reader& reader, const TestbedRow& row, const Testbed& testbed,
                         const std::vector<const NodeRow*>& node_rows);

}  // namespace softspine::control
