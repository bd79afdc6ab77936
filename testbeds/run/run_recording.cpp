// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/run_recording.hpp"

#include <algorithm>
#include <utility>

#include "pipelines/switch.hpp"

namespace softspine::testbeds {

using control::Recording;
using dataplane::Duration;
using dataplane::QosPlan;

Duration usual_record_interval(const control::RunConfig& run) {
  constexpr int64_t kSamples = 1000;
  return run.is_limited() ? std::max(Duration::us(10), Duration::ps(run.duration.count_ps() / kSamples))
                          : Duration::ms(1);
}

// A switch of another rank has the plan that this one compiles for it, whatever its routes.
RunRecording::Plans RunRecording::plans_elsewhere() const {
  Plans out(testbed_.fabric.nodes.size());
  const auto routes = compiler_.routes(std::vector<bool>(testbed_.fabric.links.size(), true));
  for (uint32_t n = 0; n < out.size(); ++n) {
    const control::FabricNode& node = testbed_.fabric.nodes[n];
    if (node.kind != control::NodeKind::kSwitch || nodes_.switch_at(n) != nullptr) continue;
    const auto state = compiler_.compile(n, (*routes)[n]);
    out[n] = state->plan;
    if (out[n]) continue;
    const auto ports = static_cast<uint32_t>(node.ports.size());
    out[n] = std::make_shared<QosPlan>(QosPlan::plain(ports, state->qos.queue_limit_bytes));
  }
  return out;
}

std::expected<void, std::string> RunRecording::create(const RecordingRequest& request) {
  const Plans elsewhere = plans_elsewhere();
  control::RecordedRun run = request.run;
  for (const auto& plan : elsewhere) run.plans.push_back(plan.get());
  nodes_.for_each_switch([&](uint32_t node, const pipelines::Switch& it) { run.plans[node] = &it.egress().plan(); });
  auto made = Recording::create(request.path, testbed_, run,
                                [this](std::string error) { errors_.report("recording", std::move(error)); });
  if (!made) return std::unexpected("cannot record to " + made.error());
  recording_ = std::move(*made);
  return {};
}

// Also after an error: other ranks, which cannot know of it yet, ask this one for its shape.
std::expected<void, std::string> RunRecording::open(const RecordingRequest& request) {
  is_open_ = true;
  std::expected<void, std::string> created;
  if (nodes_.ranks().is_first()) created = create(request);
  const SeriesRequest series{.path = {}, .interval = request.run.interval, .counters = {}};
  // First: with the samples the writer begins.
  if (recording_ && steps_.has_ranks()) steps_.open(Recording::steps(recording_, steps_.finds_reasons()));
  counters_.open(recording_ ? Recording::samples(recording_) : nullptr, series);
  flows_.open(recording_ ? Recording::flow_samples(recording_) : nullptr, series.interval);
  tables_.open(readers_of_tables(request.run.limits), series.interval);
  log_.open(recording_ ? Recording::events(recording_) : nullptr);
  return created;
}

std::vector<TableWatch::Reader> RunRecording::readers_of_tables(const control::RecordedLimits& limits) {
  if (!recording_) return {};
  ways_.open(recording_);
  groups_.open(recording_, limits.group_members);
  return {[this](const PathTables& tables, dataplane::Instant now) { ways_.look(tables, now); },
          [this](const PathTables& tables, dataplane::Instant now) { groups_.look(tables, now); }};
}

void RunRecording::finish(dataplane::Instant now) {
  if (!is_open_) return;
  counters_.finish(now);
  flows_.finish(now);
  tables_.finish(now);
  if (recording_) recording_->finish();
}

std::vector<std::string> RunRecording::check(const control::FabricSnapshot& end) const {
  return recording_ ? counters_.check(end) : std::vector<std::string>{};
}

bool RunRecording::add_results(const control::FabricSnapshot& end, const control::Json& report,
                               const std::vector<control::RecordedPicture>& pictures) {
  return !recording_ || recording_->add_results(end, report, pictures);
}

}  // namespace softspine::testbeds
