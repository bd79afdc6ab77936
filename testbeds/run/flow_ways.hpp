// SPDX-License-Identifier: Apache-2.0
// The ways of flows over time, for a recording: all at the start, then of those flows whose way has changed since the
// last sample. Ways can change only when a switch gets tables, a link goes down or up, or a bond changes ports: these
// are compared at each multiple of the interval (Engine::look_at), and flows are walked only if one of them differs.
//
// Limit: a run in which they change again and again is followed for kMostSteps; then a row without a flow says so. Over
// ranks all do the same, and rank 0 walks and records.
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

  // All must outlive it.
  FlowWays(const control::Testbed& testbed, const LocalNodes& nodes, const RunFlows& flows, LinkControl& links)
      : nodes_(nodes), flows_(flows), links_(links), paths_(testbed, flows) {}

  // Called before the first window, once, over ranks by all at once. Null: another rank records, or none.
  void open(std::shared_ptr<control::Recording> into, dataplane::Duration interval);

 private:
  void sample(dataplane::Instant now);
  void look(dataplane::Instant now);

  const LocalNodes& nodes_;
  const RunFlows& flows_;
  LinkControl& links_;
  FlowPaths paths_;
  std::shared_ptr<control::Recording> into_;
  dataplane::Duration interval_;
  std::optional<PathTables> tables_;           // at the last sample
  std::vector<uint32_t> all_;                  // flows
  std::vector<std::optional<FlowPath>> ways_;  // by flow
  uint64_t steps_ = 0;
};

}  // namespace softspine::testbeds
