// SPDX-License-Identifier: Apache-2.0
// Whether a workload's packets fit the links on their ways; acknowledgements fit any. A switch drops what is longer
// than the link that it has to leave by, and routes know nothing of it.
//   errors     a pair of hosts each of whose ways has a link that is too small
//   warnings   such links on some of the ways: what goes there is dropped
#pragma once

#include "control/compile/service.hpp"

namespace softspine::control {

void review_mtu(const Testbed& testbed, const Workload& workload, Errors& errors, Errors& warnings);

}  // namespace softspine::control
