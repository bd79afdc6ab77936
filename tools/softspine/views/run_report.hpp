// SPDX-License-Identifier: Apache-2.0
// The report of a run as `run` writes it: what control counts, the outcomes of outside hosts' commands, and of
// expectations.
#pragma once

#include <string>
#include <vector>

#include "control/expect/judge.hpp"
#include "control/model/testbed.hpp"
#include "control/report/report.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/snapshot.hpp"
#include "testbeds/outside/outside_hosts.hpp"

namespace softspine::tools {

control::RunFacts run_facts(const control::Testbed& testbed, bool interrupted = false);

// `engine`, the only key that may differ between identical runs, is the last. `notes`: about what outside hosts run on.
control::Json run_report(const control::FabricSnapshot& snapshot, const control::Testbed& testbed,
                         const std::vector<testbeds::OutsideOutcome>& outcomes, const std::vector<std::string>& notes,
                         control::IdleRows idle = control::IdleRows::kShown, bool interrupted = false);
// Why a command of an outside host makes its run fail, a sentence for each that does.
std::vector<std::string> failures_of(const std::vector<testbeds::OutsideOutcome>& outcomes);
// Whether an expectation may name a host or a link that does nothing: it reads zeros there.
bool reads_idle_rows(const std::vector<control::Expectation>& expectations);
void add_verdicts(control::Json& report, const std::vector<control::Verdict>& verdicts);
// For a person; empty if there are none.
std::string verdicts_text(const std::vector<control::Verdict>& verdicts);

// The same without a run: every key that it can have, see testbeds/run/report_outline.hpp.
control::Json report_outline(const control::Testbed& testbed);

// The meaning of the report's keys: every counter of the tables, and every other field.
control::Json counters_and_fields();

}  // namespace softspine::tools
