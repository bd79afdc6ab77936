// SPDX-License-Identifier: Apache-2.0
// Samples the counters of a running fabric at the exact multiples of an interval of emulated time, and hands what has
// changed (control/record/series.hpp) to a sink.
//
// A sample at T has all events before T and none at or after it, for any number of workers and on either clock: it is a
// look of the engine. A sample keeps no run alive, and none is taken while nothing changes: after an interval in which
// no event lies and no pause or wait for credit runs, the next sample follows the next event. The last is taken at the
// end of the run, whether that is a multiple or not.
//
// Two halves. The look brings a copy of the counters up to date (PortCopies), and notes which parts of it have changed;
// only what the chosen counters need is copied. Then the differences are found and handed to the sink: on the virtual
// clock by the look itself, which has the copy in its cache (another core would have to fetch it, and to be woken:
// twice the time); on the wall clock by a thread, while the fabric goes on, and the next look waits until it is done.
// So the copy belongs to one of the two at any time.
//
// Over ranks each has a copy of its own nodes, and gives rank 0 those that have changed; rank 0 alone has a sink.
#pragma once

#include <atomic>
#include <condition_variable>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "control/compile/compile.hpp"
#include "control/model/testbed.hpp"
#include "control/record/series.hpp"
#include "control/record/sink.hpp"
#include "control/telemetry/error_channel.hpp"
#include "testbeds/run/joined_series.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

struct SeriesRequest {
  std::string path;
  dataplane::Duration interval = dataplane::Duration::us(10);
  control::CounterPatterns counters;  // none: all
};

class CounterSeries : public RunPart {
 public:
  // All four must outlive the CounterSeries.
  CounterSeries(const control::Testbed& testbed, const control::Compiler& compiler, const LocalNodes& nodes,
                control::ErrorChannel& errors)
      : testbed_(testbed), compiler_(compiler), nodes_(nodes), errors_(errors) {}

  // Called before the first window: one of the two. Over ranks by all at once. The error is a sentence.
  std::expected<void, std::string> open(const SeriesRequest& request);
  void open(std::unique_ptr<control::SampleSink> sink, const SeriesRequest& request);
  // A reader of the file that takes nothing is soon given up.
  void end_soon() noexcept override { ending_.store(true, std::memory_order_relaxed); }
  // The last sample, and the end of the file.
  void finish(dataplane::Instant now) override;
  // After finish(): sums that are not those of the snapshot of the end.
  std::vector<std::string> check(const control::FabricSnapshot& end) const;

 private:
  // The state of a switch's port that needs no copy of its own.
  struct PortState {
    uint64_t pause_changes = UINT64_MAX;  // as of the last copy
    bool was_at_rest = false;
  };

  void take_shape();
  void begin(std::unique_ptr<control::SampleSink> sink, const SeriesRequest& request);
  void sample(dataplane::Instant now);
  bool is_here(const std::string& name) const;
  void copy(dataplane::Instant now);
  void copy_here(dataplane::Instant now);
  void copy_switch(uint32_t number, const pipelines::Switch& node, control::SwitchSnapshot& out, size_t first_port);
  control::PortChanges copy_port(const pipelines::Switch& node, dataplane::PortNo port, bool shares,
                                 control::PortSnapshot& out, PortState& state) const;
  bool copy_pauses_of(const pipelines::Switch& node, dataplane::PortNo port, control::PortSnapshot& out,
                      PortState& state, control::PortChanges& changes) const;
  void copy_pools(uint32_t number, const dataplane::Mmu& mmu, control::SwitchSnapshot& out);
  void copy_host(const RoceHost& host, control::HostSnapshot& out, size_t first_port);
  control::PortChanges copy_pauses_of_host(const dataplane::PortFlowControl& flow, control::HostPauses& out) const;
  bool is_at_rest(dataplane::Instant now) const;
  bool is_at_rest_here(dataplane::Instant now) const;
  dataplane::Instant after(dataplane::Instant now) const;

  const control::FabricSnapshot& all() const { return joined_ ? joined_->all() : now_; }
  void hand_over();
  void add_sample();
  void wait_until_written();
  void write(const std::stop_token& stop);
  void report_errors(dataplane::Instant now);

  const control::Testbed& testbed_;
  const control::Compiler& compiler_;
  const LocalNodes& nodes_;
  control::ErrorChannel& errors_;
  SeriesRequest request_;
  control::Series::Needs needs_;
  std::vector<PortState> states_;
  std::vector<std::shared_ptr<const control::QosConfig>> pools_;  // by node: whose pools the copy has

  std::atomic<bool> ending_{false};

  // The looks', and while has_work_ the writer's.
  std::unique_ptr<control::SampleSink> sink_;
  std::optional<control::Series> series_;
  control::FabricSnapshot now_;  // switches, hosts and edges only: as of the last sample
  std::vector<control::PortChanges> changes_;
  std::unique_ptr<JoinedSeries> joined_;  // over ranks: of all nodes, at rank 0

  std::mutex lock_;
  std::condition_variable_any changed_;
  bool has_work_ = false;
  std::jthread writer_;  // on the wall clock; last: it ends before what it uses
};

}  // namespace softspine::testbeds
