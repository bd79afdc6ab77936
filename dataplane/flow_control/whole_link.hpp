// SPDX-License-Identifier: Apache-2.0
// Whether the pauses of a link stop all that it carries, as PAUSE does, whatever priorities its ports enable and
// whether or not they have tables of priorities. Follows from the mode's row (link_modes.hpp): a new mode needs nothing
// here.
#pragma once

#include "dataplane/flow_control/link_modes.hpp"

namespace softspine::dataplane {

constexpr bool pauses_whole_link(LinkMode mode) {
  return paused_priorities(mode, 0) != 0;
}

}  // namespace softspine::dataplane
