// SPDX-License-Identifier: Apache-2.0
// The event log of a running fabric: what its switches record (dataplane/egress/event_recorder.hpp), and what control
// does and finds (faults, changes of routes, deadlocks), handed to its sinks in one order.
//
//   order     instant; what control did, in its order; then by switch and port, and there as it happened
//   emptied   the workers' buffers are emptied whenever the workers stand still: when one asks for it, and at an
//             interval. Then everything before that instant is known, so it is sorted and handed over; memory stays
//             bounded
// So a file has the same bytes for any number of workers.
//
// Everything here happens in engine actions, or while nothing runs.
#pragma once

#include <atomic>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/record/sink.hpp"
#include "control/telemetry/error_channel.hpp"
#include "dataplane/egress/event_recorder.hpp"
#include "testbeds/run/incidents.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class EventLog : public RunPart {
 public:
  // All must outlive it.
  EventLog(const control::Testbed& testbed, const LocalNodes& nodes, const Incidents& incidents,
           control::ErrorChannel& errors)
      : testbed_(testbed), nodes_(nodes), incidents_(incidents), errors_(errors) {}
  ~EventLog() override;

  // Called before the first window. Over ranks by all at once. The error is a sentence.
  std::expected<void, std::string> open(const std::string& path);
  // Another sink; null: its events are only counted, as at other ranks than the first. Likewise.
  void open(std::unique_ptr<control::EventSink> sink);
  // A reader of the file that takes nothing is soon given up.
  void end_soon() noexcept override { ending_.store(true, std::memory_order_relaxed); }
  // All that is left, and the end of the file.
  void finish(dataplane::Instant now) override;
  // Hands over what is known, and copies the log's counts so far; without a log, nothing.
  void snapshot(control::FabricSnapshot& out) override;

 private:
  void look(dataplane::Instant now);
  // `end`: of the run; a burst that was not over by then is written as of then.
  void write_before(dataplane::Instant now, dataplane::Instant end = dataplane::Instant::never());
  void gather_control();
  void report_errors(dataplane::Instant now);

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  const Incidents& incidents_;
  control::ErrorChannel& errors_;
  std::atomic<bool> ending_{false};
  std::vector<std::unique_ptr<control::EventSink>> sinks_;
  std::vector<std::unique_ptr<dataplane::EventBuffer>> buffers_;  // by worker
  std::vector<std::unique_ptr<dataplane::EventRecorder>> recorders_;
  std::vector<dataplane::Event> events_;     // not handed over yet
  std::vector<control::ControlNote> notes_;  // not handed over yet
  size_t incidents_seen_ = 0;
  std::vector<uint64_t> counts_;  // handed over, by row of event_facts()
};

}  // namespace softspine::testbeds
