// SPDX-License-Identifier: Apache-2.0
// The tier of a node where nothing sets it: by the words in its name (h3, tor1, p1-agg2, spine4, core1), else by
// its distance to the nearest host. The tier is known only if every word of the name is: gpu-sw1 and h3c-6850 are no
// hosts. A host is a node with one port, if there are nodes with more.
#pragma once

#include "analysis/storm/pause_log.hpp"

namespace softspine::analysis::storm {

// Sets only tiers that are not known yet.
void guess_tiers(PauseLog& log);

}  // namespace softspine::analysis::storm
