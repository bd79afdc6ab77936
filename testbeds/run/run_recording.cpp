// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/run_recording.hpp"

#include <algorithm>
#include <utility>

#include "pipelines/switch.hpp"

namespace softspine::testbeds {

using control::Recording;
using dataplane::Duration;

Duration usual_record_interval(const control::RunConfig& run) {
  constexpr int64_t kSamples = 1000;
  return run.is_limited() ? std::max(Duration::us(10), Duration::ps(run.duration.count_ps() / kSamples))
                          : Duration::ms(1);
}

std::expected<void, std::string> RunRecording::open(const RecordingRequest& request) {
  control::RecordedRun run = request.run;
  run.plans.resize(testbed_.fabric.nodes.size());
  nodes_.for_each_switch([&](uint32_t node, const pipelines::Switch& it) { run.plans[node] = &it.egress().plan(); });
  auto made = Recording::create(request.path, testbed_, run,
                                [this](std::string error) { errors_.report("recording", std::move(error)); });
  if (!made) return std::unexpected("cannot record to " + made.error());
  recording_ = std::move(*made);
  counters_.open(Recording::samples(recording_), {.path = {}, .interval = request.run.interval, .counters = {}});
  flows_.open(Recording::flow_samples(recording_), request.run.interval);
  log_.open(Recording::events(recording_));
  return {};
}

void RunRecording::finish(dataplane::Instant now) {
  if (!recording_) return;
  counters_.finish(now);
  flows_.finish(now);
  recording_->finish();
}

std::vector<std::string> RunRecording::check(const control::FabricSnapshot& end) const {
  return recording_ ? counters_.check(end) : std::vector<std::string>{};
}

bool RunRecording::add_results(const control::FabricSnapshot& end, const control::Json& report,
                               const std::vector<control::RecordedPicture>& pictures) {
  return !recording_ || recording_->add_results(end, report, pictures);
}

}  // namespace softspine::testbeds
