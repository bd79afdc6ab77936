// SPDX-License-Identifier: Apache-2.0
// What a run had to do, as cases of a test (control/report/junit_file.hpp): that it went well, that each command of an
// outside host succeeded, and each expectation.
#pragma once

#include <vector>

#include "control/expect/judge.hpp"
#include "control/model/testbed.hpp"
#include "control/report/junit_file.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "testbeds/outside/outside_hosts.hpp"

namespace softspine::tools {

std::vector<control::JunitCase> run_cases(const control::Testbed& testbed, const control::Json& report,
                                          const std::vector<control::Verdict>& verdicts,
                                          const std::vector<testbeds::OutsideOutcome>& outcomes);
// Of a run that could not go on.
std::vector<control::JunitCase> incomplete_cases(const control::Testbed& testbed, const std::string& why);

}  // namespace softspine::tools
