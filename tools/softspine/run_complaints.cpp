// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/run_complaints.hpp"

#include <algorithm>

#include "tools/command/complain.hpp"
#include "tools/softspine/views/run_report.hpp"

namespace softspine::tools {

namespace {

constexpr size_t kImbalancesTold = 10;

}  // namespace

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
