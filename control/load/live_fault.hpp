// SPDX-License-Identifier: Apache-2.0
// A fault that is injected while the fabric runs, in the format of a testbed's `faults:`.
#pragma once

#include <expected>
#include <string_view>
#include <vector>

#include "control/document/error.hpp"
#include "control/model/testbed.hpp"

namespace softspine::control {

// The fault begins when it is injected, whatever its `at` says; `until` counts from then, not from the start of the
// run.
struct LiveFault {
  std::vector<Fault> links;
  std::vector<HostFault> hosts;
  std::vector<PortFault> ports;
};

// One row of `faults:`, as YAML or JSON; `at` must be there. The errors name the keys.
std::expected<LiveFault, Errors> parse_live_fault(std::string_view text, const Testbed& testbed);

}  // namespace softspine::control
