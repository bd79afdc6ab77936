// SPDX-License-Identifier: Apache-2.0
// The ways of flows over time, for a recording: all at the start, then of those flows whose way has changed since the
// tables did last (table_watch.hpp). Flows are walked only when the tables have changed.
//
// Limit: a run in which they change again and again is followed for kMostSteps; then a row without a flow says so.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "control/record/sqlite_recording.hpp"
#include "testbeds/run/flow_paths.hpp"

namespace softspine::testbeds {

class FlowWays {
 public:
  static constexpr uint64_t kMostSteps = 5'000'000;  // some ten seconds

  // Both must outlive it.
  FlowWays(const control::Testbed& testbed, const RunFlows& flows) : flows_(flows), paths_(testbed, flows) {}

  void open(std::shared_ptr<control::Recording> into);
  void look(const PathTables& tables, dataplane::Instant now);

 private:
  const RunFlows& flows_;
  FlowPaths paths_;
  std::shared_ptr<control::Recording> into_;
  std::vector<uint32_t> all_;                  // flows
  std::vector<std::optional<FlowPath>> ways_;  // by flow
  uint64_t steps_ = 0;
};

}  // namespace softspine::testbeds
