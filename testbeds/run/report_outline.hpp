// SPDX-License-Identifier: Apache-2.0
// Which values the report of a testbed will have: the report is written from a snapshot that has every name that a run
// fills in, and no numbers. So `check` knows each path that an expectation may name, and no list has to be kept beside
// the report. (Fields that a report has only after an event are there, too: all priorities were paused.)
// Lists (losses, faults, deadlocks …) and maps with the one key "*" (a guest's counters) hold entries whose number only
// a run shows; what each has is added by add_models() (control/report/outline_models.hpp).
#pragma once

#include "control/model/testbed.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::testbeds {

control::FabricSnapshot outline_of(const control::Testbed& testbed);

}  // namespace softspine::testbeds
