// SPDX-License-Identifier: Apache-2.0
// Looks for deadlocks while a fabric runs: passes the state of its switches to control/telemetry/deadlock.hpp at
// intervals. Quick while nothing is paused. On the virtual clock this keeps no run alive: it skips the time in which
// nothing happens, and ends with the last event.
#pragma once

#include <vector>

#include "control/telemetry/deadlock.hpp"
#include "testbeds/run/assembly.hpp"

namespace softspine::testbeds {

class DeadlockLook {
 public:
  // Both must outlive the DeadlockLook.
  DeadlockLook(const control::Testbed& testbed, Assembly& assembly)
      : dilation_(testbed.run.dilation), assembly_(assembly), watch_(testbed.fabric) {}

  // Before the first window.
  void start();
  const std::vector<control::Deadlock>& found() const { return found_; }

 private:
  void look(dataplane::Instant now);

  uint32_t dilation_;
  Assembly& assembly_;
  control::DeadlockWatch watch_;
  std::vector<control::Deadlock> found_;
};

}  // namespace softspine::testbeds
