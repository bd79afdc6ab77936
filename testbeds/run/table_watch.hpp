// SPDX-License-Identifier: Apache-2.0
// Who reads the tables of switches over time, for a recording, reads them through this: at the start, at the end, and
// at each multiple of the interval at which they are not those of the look before (Engine::look_at). Tables change only
// when a switch gets new ones, a link goes down or up, or a bond changes ports: a look without a change compares
// pointers.
//
// Over ranks all do the same, and rank 0 alone has the tables of all and tells its readers.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "testbeds/run/flow_paths.hpp"

namespace softspine::testbeds {

class TableWatch {
 public:
  using Reader = std::function<void(const PathTables& tables, dataplane::Instant now)>;

  // All must outlive it.
  TableWatch(const LocalNodes& nodes, const RunFlows& flows, LinkControl& links)
      : nodes_(nodes), flows_(flows), links_(links) {}

  // Called before the first window, once, over ranks by all at once. Without readers another rank records.
  void open(std::vector<Reader> readers, dataplane::Duration interval);
  // At the end of the run, likewise, if it was opened.
  void finish(dataplane::Instant now) { look(now); }

 private:
  void sample(dataplane::Instant now);
  void look(dataplane::Instant now);

  const LocalNodes& nodes_;
  const RunFlows& flows_;
  LinkControl& links_;
  std::vector<Reader> readers_;
  dataplane::Duration interval_;
  std::optional<PathTables> tables_;  // at the last look
};

}  // namespace softspine::testbeds
