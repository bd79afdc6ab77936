// SPDX-License-Identifier: Apache-2.0
// A run's recording (control/record/sqlite_recording.hpp): counters, flows, their ways, the groups of switches, events
// and ranks' operations of a running fabric on their way to it, at an interval of its own, beside whatever else is
// written. Over ranks rank 0 writes it.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "control/record/sqlite_recording.hpp"
#include "testbeds/run/counter_series.hpp"
#include "testbeds/run/event_log.hpp"
#include "testbeds/run/flow_series.hpp"
#include "testbeds/run/flow_ways.hpp"
#include "testbeds/run/group_log.hpp"
#include "testbeds/run/run_part.hpp"
#include "testbeds/run/step_log.hpp"
#include "testbeds/run/table_watch.hpp"

namespace softspine::testbeds {

struct RecordingRequest {
  std::string path;
  control::RecordedRun run;
};

// A thousandth of the run's duration, 10 us at least; 1 ms if it has none.
dataplane::Duration usual_record_interval(const control::RunConfig& run);

class RunRecording : public RunPart {
 public:
  // All must outlive it. `log`, `steps`: parts before this one, whose events and operations it takes.
  RunRecording(const control::Testbed& testbed, const control::Compiler& compiler, const LocalNodes& nodes,
               const RunFlows& flows, LinkControl& links, EventLog& log, StepLog& steps, control::ErrorChannel& errors)
      : testbed_(testbed),
        compiler_(compiler),
        nodes_(nodes),
        log_(log),
        steps_(steps),
        errors_(errors),
        counters_(testbed, compiler, nodes, errors),
        flows_(testbed, nodes, flows, errors),
        tables_(nodes, flows, links),
        ways_(testbed, flows),
        groups_(testbed, links) {}

  // Called before the first window. Over ranks by all at once. Ranks' operations are in it if the StepLog is made for
  // sinks. The error is a sentence.
  std::expected<void, std::string> open(const RecordingRequest& request);
  // The last samples and events are in the file.
  void finish(dataplane::Instant now) override;

  // After finish(), at rank 0: sums that are not those of the snapshot of the end.
  std::vector<std::string> check(const control::FabricSnapshot& end) const;
  // After finish(). True if the recording is whole, or there is none.
  bool add_results(const control::FabricSnapshot& end, const control::Json& report,
                   const std::vector<control::RecordedPicture>& pictures);

 private:
  using Plans = std::vector<std::shared_ptr<const dataplane::QosPlan>>;  // by node

  Plans plans_elsewhere() const;
  std::expected<void, std::string> create(const RecordingRequest& request);
  std::vector<TableWatch::Reader> readers_of_tables(const control::RecordedLimits& limits);

  const control::Testbed& testbed_;
  const control::Compiler& compiler_;
  const LocalNodes& nodes_;
  EventLog& log_;
  StepLog& steps_;
  control::ErrorChannel& errors_;
  CounterSeries counters_;
  FlowSeries flows_;
  TableWatch tables_;
  FlowWays ways_;
  GroupLog groups_;
  bool is_open_ = false;
  std::shared_ptr<control::Recording> recording_;  // null: it is not open, or rank 0 has it
};

}  // namespace softspine::testbeds
