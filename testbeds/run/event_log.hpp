// SPDX-License-Identifier: Apache-2.0
// The event log of a running fabric: what its switches record (dataplane/egress/event_recorder.hpp), and what control
// does and finds (faults, changes of routes, deadlocks), as JSON lines in one order
// (control/telemetry/event_lines.hpp).
//
//   order     instant; what control did, in its order; then by switch and port, and there as it happened
//   emptied   the workers' buffers are emptied whenever the workers stand still: when one asks for it, and at an
//             interval. Then everything before that instant is known, so it is sorted and written; memory stays bounded
// So the file has the same bytes for any number of workers.
//
// Everything here happens in engine actions, or while nothing runs.
#pragma once

#include <atomic>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/record/line_file.hpp"
#include "control/telemetry/error_channel.hpp"
#include "control/telemetry/event_lines.hpp"
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

  // Before the first window. The error is a sentence.
  std::expected<void, std::string> open(const std::string& path);
  // A reader of the file that takes nothing is soon given up.
  void end_soon() noexcept override { ending_.store(true, std::memory_order_relaxed); }
  // All that is left, and the end of the file.
  void finish(dataplane::Instant now) override;
  // What the file has so far; nothing without a file.
  void snapshot(control::FabricSnapshot& out) override;

 private:
  // Of control's: `text` is the whole line.
  struct Line {
    dataplane::Instant at;
    control::ControlEvent kind;
    std::string text;
  };
  void look(dataplane::Instant now);
  // `end`: of the run; a burst that was not over by then is written as of then.
  void write_before(dataplane::Instant now, dataplane::Instant end = dataplane::Instant::never());
  void gather_control();
  void add_line(const dataplane::Event& event);
  void report_error(dataplane::Instant now);

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  const Incidents& incidents_;
  control::ErrorChannel& errors_;
  std::string path_;
  std::atomic<bool> ending_{false};
  std::optional<control::LineFile> file_;
  std::vector<std::unique_ptr<dataplane::EventBuffer>> buffers_;  // by worker
  std::vector<std::unique_ptr<dataplane::EventRecorder>> recorders_;
  std::vector<dataplane::Event> events_;  // not written yet
  std::vector<Line> lines_;               // not written yet
  size_t incidents_seen_ = 0;
  std::vector<uint64_t> counts_;  // lines written, by row of event_facts()
};

}  // namespace softspine::testbeds
