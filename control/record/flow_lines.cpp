// SPDX-License-Identifier: Apache-2.0
#include "control/record/flow_lines.hpp"

#include <fmt/format.h>

#include <iterator>

#include "control/telemetry/json.hpp"

namespace softspine::control {

namespace {

std::string or_null(uint64_t value, uint64_t none) {
  return value == none ? "null" : std::to_string(value);
}

}  // namespace

std::expected<std::unique_ptr<FlowLines>, std::string> FlowLines::open(const std::string& path,
                                                                       const std::atomic<bool>* ending) {
  auto file = LineFile::open(path, ending);
  if (!file) return std::unexpected(path + ": " + file.error());
  return std::unique_ptr<FlowLines>{new FlowLines{path, std::move(*file)}};
}

void FlowLines::begin(const FlowShape& shape) {
  for (const FlowKeys& flow : shape.flows) {
    const Json keys{{"flow", flow.workload},
                    {"source", flow.source},
                    {"source_qp", flow.source_qp},
                    {"destination", flow.destination},
                    {"destination_qp", flow.destination_qp}};
    const std::string text = keys.dump();
    keys_.push_back(text.substr(1, text.size() - 2));
  }
  const Json head{{"flow_series", 1}, {"testbed", shape.testbed}, {"sample_interval_ps", shape.interval.count_ps()}};
  file_.text() += head.dump() + "\n";
}

void FlowLines::sample(dataplane::Instant now, std::span<const FlowSample> changed) {
  for (const FlowSample& each : changed) {
    fmt::format_to(std::back_inserter(file_.text()),
                   R"({{"t_ps":{},{},"rate_bps":{},"window_bytes":{},"rtt_ps":{},"sent_bytes":{},"acks":{},"cnps":{},)"
                   R"("ce_echoes":{}}})"
                   "\n",
                   now.count_ps(), keys_[each.flow], or_null(each.rate_bps, FlowSample::kNoLimit),
                   or_null(each.window_bytes, FlowSample::kNoLimit), or_null(each.rtt_ps, 0), each.sent_bytes,
                   each.acks, each.cnps, each.ce_echoes);
  }
  ++samples_;
  lines_ += changed.size();
  file_.put();
}

void FlowLines::end(dataplane::Instant now) {
  fmt::format_to(std::back_inserter(file_.text()),
                 R"({{"end_ps":{},"samples":{},"lines":{}}})"
                 "\n",
                 now.count_ps(), samples_, lines_);
  file_.flush();
}

std::string FlowLines::take_error() {
  const std::string error = file_.take_error();
  return error.empty() ? error : path_ + ": " + error;
}

}  // namespace softspine::control
