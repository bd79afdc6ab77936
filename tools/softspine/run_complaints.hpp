// SPDX-License-Identifier: Apache-2.0
// What `softspine run` says on stderr of a run: when it ends, and what did not go as it should.
#pragma once

#include <string>
#include <vector>

#include "testbeds/outside/outside_hosts.hpp"
#include "testbeds/run/running_fabric.hpp"

namespace softspine::tools {

// Differences from the testbed.
void say_notes(const testbeds::RunningFabric& fabric);
// If nothing but commands or a signal ends it.
void say_when_it_ends(const testbeds::RunningFabric& fabric);

// True if the counters add up from every side; else each sum that does not is named.
bool all_add_up(const std::vector<std::string>& imbalances);

// True if no command of a host failed; else each that did is named.
bool all_commands_succeeded(const std::vector<testbeds::OutsideOutcome>& outcomes);

}  // namespace softspine::tools
