// SPDX-License-Identifier: Apache-2.0
#include "control/report/flows_csv.hpp"

#include <fmt/format.h>

#include <optional>

namespace softspine::control {

namespace {

struct Column {
  const char* name;
  std::string (*cell)(const FlowSnapshot&);
};

std::string cell(dataplane::Instant at) {
  return at.is_never() ? "" : std::to_string(at.count_ps());
}
std::string cell(const std::optional<dataplane::Duration>& time) {
  return time ? std::to_string(time->count_ps()) : "";
}
std::string latency(const FlowSnapshot& flow, uint64_t LatencySummary::* value) {
  return flow.latency.samples == 0 ? "" : std::to_string(flow.latency.*value);
}

std::string slowdown(const FlowSnapshot& flow) {
  const auto found = flow.slowdown_millionths();
  return found ? fmt::format("{}.{:06}", *found / 1'000'000, *found % 1'000'000) : "";
}

// Names of workloads and hosts have neither commas nor quotes: the testbed's reader sees to that.
constexpr Column kColumns[] = {
    {"workload", [](const FlowSnapshot& f) { return f.workload; }},
    {"flow", [](const FlowSnapshot& f) { return std::to_string(f.id); }},
    {"source", [](const FlowSnapshot& f) { return f.source; }},
    {"destination", [](const FlowSnapshot& f) { return f.destination; }},
    {"source_qp", [](const FlowSnapshot& f) { return std::to_string(f.source_qp); }},
    {"destination_qp", [](const FlowSnapshot& f) { return std::to_string(f.destination_qp); }},
    {"planned_messages", [](const FlowSnapshot& f) { return std::to_string(f.planned_messages); }},
    {"sent_packets", [](const FlowSnapshot& f) { return std::to_string(f.sent_packets); }},
    {"sent_bytes", [](const FlowSnapshot& f) { return std::to_string(f.sent_bytes); }},
    {"retransmitted_packets", [](const FlowSnapshot& f) { return std::to_string(f.reliable.retransmitted_packets); }},
    {"retransmitted_bytes", [](const FlowSnapshot& f) { return std::to_string(f.reliable.retransmitted_bytes); }},
    {"received_packets", [](const FlowSnapshot& f) { return std::to_string(f.received_packets); }},
    {"received_bytes", [](const FlowSnapshot& f) { return std::to_string(f.received_bytes); }},
    {"received_messages", [](const FlowSnapshot& f) { return std::to_string(f.received_messages); }},
    {"missing_packets", [](const FlowSnapshot& f) { return std::to_string(f.missing()); }},
    {"under_way_packets", [](const FlowSnapshot& f) { return std::to_string(f.under_way); }},
    {"marked_packets", [](const FlowSnapshot& f) { return std::to_string(f.marked); }},
    {"first_sent_ps", [](const FlowSnapshot& f) { return cell(f.first_sent); }},
    {"last_arrived_ps", [](const FlowSnapshot& f) { return cell(f.last_arrived); }},
    {"fct_ps", [](const FlowSnapshot& f) { return cell(f.completion); }},
    {"fct_acked_ps", [](const FlowSnapshot& f) { return cell(f.acked); }},
    {"latency_min_ps", [](const FlowSnapshot& f) { return latency(f, &LatencySummary::min_ps); }},
    {"latency_mean_ps", [](const FlowSnapshot& f) { return latency(f, &LatencySummary::mean_ps); }},
    {"latency_max_ps", [](const FlowSnapshot& f) { return latency(f, &LatencySummary::max_ps); }},
    {"stalled", [](const FlowSnapshot& f) { return f.stalled; }},
    {"message_bytes", [](const FlowSnapshot& f) { return std::to_string(f.message_bytes); }},
    {"dscp", [](const FlowSnapshot& f) { return std::to_string(f.dscp); }},
    {"start_ps", [](const FlowSnapshot& f) { return cell(f.start); }},
    {"ideal_ps",
     [](const FlowSnapshot& f) { return f.ideal > dataplane::Duration{} ? cell(std::optional(f.ideal)) : ""; }},
    {"slowdown", [](const FlowSnapshot& f) { return slowdown(f); }},
};

}  // namespace

std::string flows_csv(const FabricSnapshot& snapshot) {
  std::string out;
  const auto add_line = [&out](auto&& cell_of) {
    bool first = true;
    for (const Column& column : kColumns) {
      if (!first) out += ',';
      first = false;
      out += cell_of(column);
    }
    out += "\r\n";
  };
  add_line([](const Column& column) { return std::string{column.name}; });
  for (const FlowSnapshot& flow : snapshot.flows) add_line([&](const Column& column) { return column.cell(flow); });
  return out;
}

}  // namespace softspine::control
