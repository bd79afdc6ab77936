// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM end the run cleanly; a second one ends the process at once.
#pragma once

#include "testbeds/run/running_fabric.hpp"

namespace softspine::tools {

// While it lives. One at a time.
class StopOnInterrupt {
 public:
  explicit StopOnInterrupt(testbeds::RunningFabric& fabric);
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
};

}  // namespace softspine::tools
