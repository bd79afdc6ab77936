// SPDX-License-Identifier: Apache-2.0
// The groups among whose members switches choose, over time, for a recording: all at the start, then those of a switch
// that has others since its tables changed (table_watch.hpp). What members send stands in the counters of their ports,
// so a sample costs nothing.
//
// Limit: control::RecordedLimits; then a row without a switch says so.
#pragma once

#include <memory>
#include <vector>

#include "analysis/explain/hash_groups.hpp"
#include "control/record/sqlite_recording.hpp"
#include "testbeds/run/flow_paths.hpp"

namespace softspine::testbeds {

class GroupLog {
 public:
  // Both must outlive it.
  GroupLog(const control::Testbed& testbed, const LinkControl& links) : testbed_(testbed), links_(links) {}

  void open(std::shared_ptr<control::Recording> into, uint64_t most_members);
  void look(const PathTables& tables, dataplane::Instant now);

 private:
  struct Known {
    std::shared_ptr<const dataplane::ForwardingState> state;
    std::vector<analysis::HashGroup> groups;
  };
  void look_at_switch(uint32_t node, dataplane::Instant now);

  const control::Testbed& testbed_;
  const LinkControl& links_;
  std::shared_ptr<control::Recording> into_;
  std::vector<Known> known_;  // by node
  uint64_t members_ = 0;      // recorded
  uint64_t most_members_ = 0;
};

}  // namespace softspine::testbeds
