// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/flow_series.hpp"

#include <algorithm>
#include <utility>

#include "control/record/flow_lines.hpp"
#include "testbeds/run/next_look.hpp"

namespace softspine::testbeds {

using namespace dataplane;
using control::FlowSample;

std::expected<void, std::string> FlowSeries::open(const std::string& path, Duration interval) {
  if (!nodes_.ranks().is_first()) {  // it gives rank 0 what has changed
    open(std::unique_ptr<control::FlowSink>{}, interval);
    return {};
  }
  auto lines = control::FlowLines::open(path, &ending_);
  if (!lines) return std::unexpected("cannot write the flows' series to " + lines.error());
  open(std::move(*lines), interval);
  return {};
}

void FlowSeries::open(std::unique_ptr<control::FlowSink> sink, Duration interval) {
  sink_ = std::move(sink);
  interval_ = interval;
  control::FlowShape shape{.testbed = testbed_.name, .interval = interval, .flows = {}};
  for (uint32_t i = 0; i < flows_.size(); ++i) {
    const PlannedFlow& plan = flows_.plan(i);
    last_.push_back({.flow = i});
    shape.flows.push_back({.workload = testbed_.workloads[plan.workload].name,
                           .source = testbed_.fabric.nodes[plan.source].name,
                           .source_qp = plan.flow.source_qp,
                           .destination = testbed_.fabric.nodes[plan.destination].name,
                           .destination_qp = plan.flow.destination_qp});
  }
  if (sink_) sink_->begin(shape);
  nodes_.engine().look_at(Instant::at(interval), [this](Instant now) { sample(now); });
}

FlowSample FlowSeries::state_of(uint32_t flow, const FlowSource& source, const ReliableSender& sender) {
  const CongestionControl& control = sender.limiter().control();
  const FlowSent& sent = source.sent();
  const uint64_t cnps = sent.reliable.rp_cnp_handled + sent.reliable.rp_cnp_ignored;
  return {.flow = flow,
          .rate_bps = control.rate_bps(),
          .window_bytes = control.window_bytes(),
          .rtt_ps = static_cast<uint64_t>(sender.last_rtt().count_ps()),
          .sent_bytes = sent.bytes,
          .acks = sent.responses - cnps,
          .cnps = cnps,
          .ce_echoes = sent.reliable.ce_echoes};
}

void FlowSeries::sample(Instant now) {
  hand_over(now);
  Engine& engine = nodes_.engine();
  const Instant then = next_look(engine, now, interval_);
  if (!then.is_never()) engine.look_at(then, [this](Instant later) { sample(later); });
}

void FlowSeries::hand_over(Instant now) {
  changed_.clear();
  for (uint32_t i = 0; i < flows_.size(); ++i) {
    const auto& source = flows_.source(i);
    const bool is_here = source && source->host != nullptr;
    const ReliableSender* const sender = is_here ? source->host->sender(source->number) : nullptr;
    if (sender == nullptr) continue;
    const FlowSample state = state_of(i, *source, *sender);
    if (state != last_[i]) add(state);
  }
  const std::vector<FlowSample> all = nodes_.ranks().collect_all(changed_, &FlowSample::flow);
  if (!sink_) return;
  sink_->sample(now, all);
  report_error(now);
}

void FlowSeries::add(const FlowSample& state) {
  FlowSample& last = last_[state.flow];
  FlowSample& since = changed_.emplace_back(state);
  since.sent_bytes -= last.sent_bytes;
  since.acks -= last.acks;
  since.cnps -= last.cnps;
  since.ce_echoes -= last.ce_echoes;
  last = state;
}

void FlowSeries::finish(Instant now) {
  if (interval_ == Duration{}) return;
  hand_over(now);
  if (!sink_) return;
  sink_->end(now);
  report_error(now);
}

void FlowSeries::report_error(Instant now) {
  if (std::string error = sink_->take_error(); !error.empty()) errors_.report("flows over time", std::move(error), now);
}

}  // namespace softspine::testbeds
