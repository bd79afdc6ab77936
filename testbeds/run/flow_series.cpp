// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/flow_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "control/telemetry/json.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

std::string limit_text(uint64_t limit) {
  return limit == CongestionControl::kNoLimit ? "null" : std::to_string(limit);
}

}  // namespace

std::expected<void, std::string> FlowSeries::open(const std::string& path, Duration interval) {
  auto file = control::LineFile::open(path, &ending_);
  if (!file) return std::unexpected("cannot write the flows' series to " + path + ": " + file.error());
  file_.emplace(std::move(*file));
  path_ = path;
  interval_ = interval;
  last_.resize(flows_.size());
  for (const PlannedFlow& plan : flows_.plans()) {
    const control::Json keys{{"flow", testbed_.workloads[plan.workload].name},
                             {"source", testbed_.fabric.nodes[plan.source].name},
                             {"source_qp", plan.flow.source_qp},
                             {"destination", testbed_.fabric.nodes[plan.destination].name},
                             {"destination_qp", plan.flow.destination_qp}};
    const std::string text = keys.dump();
    names_.push_back(text.substr(1, text.size() - 2));
  }
  const control::Json head{{"flow_series", 1}, {"testbed", testbed_.name}, {"sample_interval_ps", interval.count_ps()}};
  file_->text() += head.dump() + "\n";
  engine_.look_at(Instant::at(interval), [this](Instant now) { sample(now); });
  return {};
}

FlowSeries::State FlowSeries::state_of(const FlowSource& source, const ReliableSender& sender) {
  const CongestionControl& control = sender.limiter().control();
  const FlowSent& sent = source.sent();
  const uint64_t cnps = sent.reliable.rp_cnp_handled + sent.reliable.rp_cnp_ignored;
  return {.rate_bps = control.rate_bps(),
          .window_bytes = control.window_bytes(),
          .rtt_ps = sender.last_rtt().count_ps(),
          .sent_bytes = sent.bytes,
          .acks = sent.responses - cnps,
          .cnps = cnps,
          .ce_echoes = sent.reliable.ce_echoes};
}

// The next multiple; on the virtual clock the first one after the next event, if nothing happens before.
void FlowSeries::sample(Instant now) {
  write(now);
  const Instant event = engine_.next_event();
  if (event.is_never() && !engine_.is_wall()) return;
  const int64_t interval = interval_.count_ps();
  const Instant usual = now + interval_;
  const bool waits = !engine_.is_wall() && event > usual;
  const Instant then = waits ? Instant::at_ps((event.count_ps() / interval + 1) * interval) : usual;
  engine_.look_at(then, [this](Instant later) { sample(later); });
}

void FlowSeries::write(Instant now) {
  ++samples_;
  for (size_t i = 0; i < flows_.size(); ++i) {
    const auto& source = flows_.source(i);
    const ReliableSender* const sender = source ? source->sender() : nullptr;
    if (sender == nullptr) continue;
    const State state = state_of(*source, *sender);
    if (state != last_[i]) add_line(now, i, state);
  }
  file_->put();
  report_error(now);
}

void FlowSeries::add_line(Instant now, size_t flow, const State& state) {
  State& last = last_[flow];
  fmt::format_to(std::back_inserter(file_->text()),
                 R"({{"t_ps":{},{},"rate_bps":{},"window_bytes":{},"rtt_ps":{},"sent_bytes":{},"acks":{},"cnps":{},)"
                 R"("ce_echoes":{}}})"
                 "\n",
                 now.count_ps(), names_[flow], limit_text(state.rate_bps), limit_text(state.window_bytes),
                 state.rtt_ps == 0 ? "null" : std::to_string(state.rtt_ps), state.sent_bytes - last.sent_bytes,
                 state.acks - last.acks, state.cnps - last.cnps, state.ce_echoes - last.ce_echoes);
  last = state;
  ++lines_;
}

void FlowSeries::finish(Instant now) {
  if (!file_) return;
  write(now);
  fmt::format_to(std::back_inserter(file_->text()),
                 R"({{"end_ps":{},"samples":{},"lines":{}}})"
                 "\n",
                 now.count_ps(), samples_, lines_);
  file_->flush();
  report_error(now);
}

void FlowSeries::report_error(Instant now) {
  if (std::string error = file_->take_error(); !error.empty())
    errors_.report("flows over time", path_ + ": " + error, now);
}

}  // namespace softspine::testbeds
