// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/views/run_cases.hpp"

#include <string>

#include "control/telemetry/json.hpp"
#include "tools/softspine/views/run_report.hpp"

namespace softspine::tools {

using control::Json;
using control::JunitCase;

namespace {

constexpr const char* kTheRun = "the run";

// What makes a run fail beside commands and expectations: a line for each.
std::string troubles_of(const control::Testbed& testbed, const Json& report) {
  std::string out;
  const auto add = [&out](const std::string& line) { out += (out.empty() ? "" : "\n") + line; };
  for (const Json& sum : report["totals"]["imbalances"]) add(sum.get<std::string>());
  for (const Json& error : report["errors"]) {
    add(error["who"].get<std::string>() + ": " + error["what"].get<std::string>());
  }
  const uint64_t stalled = control::unexpected_stalls(testbed.expectations, report);
  if (stalled != 0) add(std::to_string(stalled) + " flows stalled");
  return out;
}

}  // namespace

std::vector<JunitCase> run_cases(const control::Testbed& testbed, const Json& report,
                                 const std::vector<control::Verdict>& verdicts,
                                 const std::vector<testbeds::OutsideOutcome>& outcomes) {
  std::vector<JunitCase> out{
      {.name = kTheRun, .file = testbed.file, .failure = troubles_of(testbed, report), .is_error = true}};
  for (const testbeds::OutsideOutcome& outcome : outcomes) {
    const std::vector<std::string> failures = failures_of({outcome});
    out.push_back({.name = "command of " + outcome.host,
                   .file = testbed.file,
                   .seconds = outcome.seconds,
                   .failure = failures.empty() ? "" : failures.front()});
  }
  for (const control::Verdict& verdict : verdicts) {
    const control::Expectation& expected = *verdict.expectation;
    out.push_back({.name = expected.value + " (" + expected.path + ")",
                   .file = testbed.file,
                   .line = expected.line,
                   .failure = verdict.held ? "" : verdict.text});
  }
  return out;
}

std::vector<JunitCase> incomplete_cases(const control::Testbed& testbed, const std::string& why) {
  return {{.name = kTheRun, .file = testbed.file, .failure = why, .is_error = true}};
}

}  // namespace softspine::tools
