// SPDX-License-Identifier: Apache-2.0
// Reliable flows over time: the state of their congestion controls at the multiples of an interval of emulated time,
// as JSON lines in a file of its own. Nobody asks unless the user does: a run without it pays nothing.
//
//   {"flow_series": 1, "testbed": …, "sample_interval_ps": …}
//   {"t_ps": …, "flow": "web", "source": "h2", "source_qp": 17, "destination": "h1", "destination_qp": 18,
//    "rate_bps": …, "window_bytes": …, "rtt_ps": …, "sent_bytes": …, "acks": …, "cnps": …, "ce_echoes": …}
//   {"end_ps": …, "samples": …, "lines": …}
//
//   rate_bps, window_bytes   of the control, as of the flow's last event; null: it sets no such limit
//   rtt_ps                   the last round-trip time; null: there is none yet, or the control measures none
//   sent_bytes               payload since the last sample, what was sent again included
//   acks, cnps, ce_echoes    since the last sample: acknowledgements and NAKs; CNPs; acknowledgements that echoed CE
// A flow has a line when anything of this has changed. A sample at T has all events before T (Engine::look_at), and
// none is taken while no event lies before it. The last is taken at the end of the run.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/record/line_file.hpp"
#include "control/telemetry/error_channel.hpp"
#include "dataplane/engine/engine.hpp"
#include "testbeds/run/run_flows.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class FlowSeries : public RunPart {
 public:
  // All must outlive the FlowSeries.
  FlowSeries(const control::Testbed& testbed, dataplane::Engine& engine, const RunFlows& flows,
             control::ErrorChannel& errors)
      : testbed_(testbed), engine_(engine), flows_(flows), errors_(errors) {}

  // Called before the first window. The error is a sentence.
  std::expected<void, std::string> open(const std::string& path, dataplane::Duration interval);
  // A reader of the file that takes nothing is soon given up.
  void end_soon() noexcept override { ending_.store(true, std::memory_order_relaxed); }
  // The last sample, and the end of the file.
  void finish(dataplane::Instant now) override;

 private:
  struct State {
    uint64_t rate_bps = dataplane::CongestionControl::kNoLimit;
    uint64_t window_bytes = dataplane::CongestionControl::kNoLimit;
    int64_t rtt_ps = 0;
    uint64_t sent_bytes = 0;
    uint64_t acks = 0;
    uint64_t cnps = 0;
    uint64_t ce_echoes = 0;

    friend bool operator==(const State&, const State&) = default;
  };
  static State state_of(const FlowSource& source, const ReliableSender& sender);
  void sample(dataplane::Instant now);
  void write(dataplane::Instant now);
  void add_line(dataplane::Instant now, size_t flow, const State& state);
  void report_error(dataplane::Instant now);

  const control::Testbed& testbed_;
  dataplane::Engine& engine_;
  const RunFlows& flows_;
  control::ErrorChannel& errors_;
  std::string path_;
  dataplane::Duration interval_;
  std::atomic<bool> ending_{false};
  std::optional<control::LineFile> file_;
  std::vector<State> last_;         // by flow
  std::vector<std::string> names_;  // by flow: its keys, which are the same in each line
  uint64_t samples_ = 0;
  uint64_t lines_ = 0;
};

}  // namespace softspine::testbeds
