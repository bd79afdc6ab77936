// SPDX-License-Identifier: Apache-2.0
// What a recording has of groups and ranks, held against the run that it was made of.
#pragma once

#include <string>
#include <vector>

#include "control/telemetry/snapshot.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/run/recording_reader.hpp"

namespace softspine::testbeds {

// Groups of switches at the end of the run: those of the tables that they have. A sentence for each switch that
// differs.
std::vector<std::string> differences_of_groups(RecordingReader& rows, RunningFabric& fabric);
// Each rank's steps and waits, and the causes of all waits: those of the snapshot, which has them (`--steps`).
std::vector<std::string> differences_of_steps(RecordingReader& rows, const control::StepsSnapshot& steps);

}  // namespace softspine::testbeds
