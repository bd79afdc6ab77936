// SPDX-License-Identifier: Apache-2.0
// Which values the report of a testbed will have: the report is written from a snapshot that has every name that a run
// fills in, and no numbers. So `check` knows each path that an expectation may name, and no list has to be kept beside
// the report. (Fields that a report has only after an event are there, too: all priorities were paused.)
// Arrays (losses, faults, deadlocks …) and maps with the one key "*" (a guest's counters) hold what only a run can
// tell: find_in_outline() takes any path below them.
#pragma once

#include "control/model/testbed.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::testbeds {

control::FabricSnapshot outline_of(const control::Testbed& testbed);

}  // namespace softspine::testbeds
