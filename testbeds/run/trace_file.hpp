// SPDX-License-Identifier: Apache-2.0
// A run's Perfetto trace (control/record/perfetto_trace.hpp): pauses, events, ranks' operations and samples of a
// running fabric on their way to it. (Traces that a testbed replays are trace_ranks.hpp's.)
//
// Each port has an observer of its pauses, which writes into a buffer of its worker. Whenever the event log is emptied,
// these are, too; and a pause whose time has run out, which the port itself sees only later, is taken then. So all that
// ended before that instant is known, whoever saw it when. A pause that still runs at the end of the run ends there.
// Over ranks each has the pauses of its ports, and rank 0 the file.
#pragma once

#include <array>
#include <atomic>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "control/record/perfetto_trace.hpp"
#include "dataplane/flow_control/pause_observer.hpp"
#include "testbeds/run/counter_series.hpp"
#include "testbeds/run/event_log.hpp"
#include "testbeds/run/run_part.hpp"
#include "testbeds/run/step_log.hpp"

namespace softspine::testbeds {

struct TraceRequest {
  std::string path;
  dataplane::Duration interval;  // of occupancies
};

class TraceFile : public RunPart {
 public:
  // All must outlive it. `log`, `steps`: parts before this one, whose events and operations it takes.
  TraceFile(const control::Testbed& testbed, const control::Compiler& compiler, const LocalNodes& nodes, EventLog& log,
            StepLog& steps, control::ErrorChannel& errors);
  ~TraceFile() override;

  // Called before the first window, over ranks by all at once. Ranks' operations are in it if the StepLog is made for a
  // sink. The error is a sentence.
  std::expected<void, std::string> open(const TraceRequest& request);
  void end_soon() noexcept override { ending_.store(true, std::memory_order_relaxed); }
  void finish(dataplane::Instant now) override;
  // After finish(), if it was opened: sums that are not those of the snapshot of the end.
  std::vector<std::string> check(const control::FabricSnapshot& end) const;

 private:
  class PortPauses;
  using Buffer = std::vector<control::TracedPause>;

  template <typename See>
  void for_each_port(See&& see) const;
  std::expected<void, std::string> create(const std::string& path);
  void open_steps();
  void take_before(dataplane::Instant now);
  void hand_over();
  void report_error(dataplane::Instant now);

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  EventLog& log_;
  StepLog& steps_;
  control::ErrorChannel& errors_;
  CounterSeries counters_;
  std::atomic<bool> ending_{false};
  std::vector<std::unique_ptr<Buffer>> buffers_;  // by worker
  std::vector<std::unique_ptr<PortPauses>> ports_;
  bool is_open_ = false;
  std::shared_ptr<control::PerfettoTrace> trace_;  // rank 0's
};

}  // namespace softspine::testbeds
