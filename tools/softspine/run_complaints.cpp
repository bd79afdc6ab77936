// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/run_complaints.hpp"

#include <algorithm>

#include "testbeds/run/outside_watch.hpp"
#include "tools/command/complain.hpp"
#include "tools/softspine/views/run_report.hpp"

namespace softspine::tools {

namespace {

constexpr size_t kImbalancesTold = 10;

}  // namespace

void say_notes(const testbeds::RunningFabric& fabric) {
  for (const std::string& note : fabric.notes()) complain("softspine: {}\n", note);
}

void say_when_it_ends(const testbeds::RunningFabric& fabric) {
  const control::Testbed& testbed = fabric.testbed();
  if (testbed.run.is_limited()) return;
  complain("softspine: without a duration, {} runs {}\n", testbed.name,
           fabric.part<testbeds::OutsideWatch>().waits_for_commands()
               ? "until the commands of its outside hosts have ended, or Ctrl-C"
               : "until Ctrl-C");
}

bool all_add_up(const std::vector<std::string>& imbalances) {
  for (size_t i = 0; i < std::min(imbalances.size(), kImbalancesTold); ++i) {
    complain("softspine: {}\n", imbalances[i]);
  }
  if (imbalances.empty()) return true;
  complain("softspine: {} sums of this run do not add up: a defect, please report it\n", imbalances.size());
  return false;
}

bool all_commands_succeeded(const std::vector<testbeds::OutsideOutcome>& outcomes) {
  const std::vector<std::string> failures = failures_of(outcomes);
  for (const std::string& failure : failures) complain("softspine: {}\n", failure);
  return failures.empty();
}

}  // namespace softspine::tools
