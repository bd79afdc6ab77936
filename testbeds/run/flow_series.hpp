// SPDX-License-Identifier: Apache-2.0
// Reliable flows over time: the state of their congestion controls at the multiples of an interval of emulated time,
// handed to sinks (control/record/sink.hpp; flow_lines.hpp has its text). Nobody asks unless the user does: a run
// without it pays nothing.
//
//   rate_bps, window_bytes   of the control, as of the flow's last event; none: it sets no such limit
//   rtt_ps                   the last round-trip time; none: there is none yet, or the control measures none
//   sent_bytes               payload since the last sample, what was sent again included
//   acks, cnps, ce_echoes    since the last sample: acknowledgements and NAKs; CNPs; acknowledgements that echoed CE
// A flow is in a sample when anything of this has changed. A sample at T has all events before T (Engine::look_at), and
// none is taken while no event lies before it. The last is taken at the end of the run.
//
// Over ranks each looks at the flows that its hosts send, and gives rank 0 those that have changed; rank 0 alone has a
// sink.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/record/sink.hpp"
#include "control/telemetry/error_channel.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_flows.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class FlowSeries : public RunPart {
 public:
  // All must outlive the FlowSeries.
  FlowSeries(const control::Testbed& testbed, const LocalNodes& nodes, const RunFlows& flows,
             control::ErrorChannel& errors)
      : testbed_(testbed), nodes_(nodes), flows_(flows), errors_(errors) {}

  // Called before the first window: one of the two. Over ranks by all at once; the sinks of others than rank 0 get
  // nothing, and may be null. The error is a sentence.
  std::expected<void, std::string> open(const std::string& path, dataplane::Duration interval);
  void open(std::unique_ptr<control::FlowSink> sink, dataplane::Duration interval);
  // A reader of the file that takes nothing is soon given up.
  void end_soon() noexcept override { ending_.store(true, std::memory_order_relaxed); }
  // The last sample, and the end of the file.
  void finish(dataplane::Instant now) override;

 private:
  static_assert(control::FlowSample::kNoLimit == dataplane::CongestionControl::kNoLimit);
  static control::FlowSample state_of(uint32_t flow, const FlowSource& source, const ReliableSender& sender);
  void sample(dataplane::Instant now);
  void hand_over(dataplane::Instant now);
  void add(const control::FlowSample& state);
  void report_error(dataplane::Instant now);

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  const RunFlows& flows_;
  control::ErrorChannel& errors_;
  dataplane::Duration interval_;
  std::atomic<bool> ending_{false};
  std::unique_ptr<control::FlowSink> sink_;   // null: it is not open, or rank 0 has it
  std::vector<control::FlowSample> last_;     // by flow: its counts from the start
  std::vector<control::FlowSample> changed_;  // of the last sample
};

}  // namespace softspine::testbeds
