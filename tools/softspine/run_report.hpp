// SPDX-License-Identifier: Apache-2.0
// The report of a run as `run` writes it: what control counts, what outside hosts' commands came to, and what was
// expected.
#pragma once

#include <string>
#include <vector>

#include "control/expect/judge.hpp"
#include "control/model/testbed.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/report.hpp"
#include "control/telemetry/snapshot.hpp"
#include "testbeds/outside/outside_hosts.hpp"

namespace softspine::tools {

control::RunFacts run_facts(const control::Testbed& testbed);

// `engine`, which alone may differ between identical runs, stands last. `notes`: of what outside hosts run on.
control::Json run_report(const control::FabricSnapshot& snapshot, const control::Testbed& testbed,
                         const std::vector<testbeds::OutsideOutcome>& outcomes, const std::vector<std::string>& notes);
void add_verdicts(control::Json& report, const std::vector<control::Verdict>& verdicts);

// The same without a run: every key that it can have, see testbeds/run/report_outline.hpp.
control::Json report_outline(const control::Testbed& testbed);

// What its keys mean: every counter of the tables, and every other field.
control::Json counters_and_fields();

}  // namespace softspine::tools
