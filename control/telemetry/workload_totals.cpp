// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/workload_totals.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "dataplane/units/wide.hpp"

namespace softspine::control {

namespace {

void merge(LatencySummary& into, const LatencySummary& more) {
  if (more.samples == 0) return;
  using dataplane::Uint128;
  const Uint128 sum = Uint128{into.mean_ps} * into.samples + Uint128{more.mean_ps} * more.samples;
  into.min_ps = into.samples == 0 ? more.min_ps : std::min(into.min_ps, more.min_ps);
  into.max_ps = std::max(into.max_ps, more.max_ps);
  into.samples += more.samples;
  into.mean_ps = static_cast<uint64_t>(sum / into.samples);
}

}  // namespace

void WorkloadTotals::add(const FlowSnapshot& flow) {
  ++flows;
  sent_packets += flow.sent_packets;
  sent_bytes += flow.sent_bytes;
  sent_messages += flow.sent_messages;
  received_packets += flow.received_packets;
  received_bytes += flow.received_bytes;
  received_messages += flow.received_messages;
  foreign += flow.foreign;
  under_way += flow.under_way;
  missing += flow.missing();
  sequence_gaps += flow.sequence_gaps;
  skipped_packets += flow.skipped_packets;
  behind += flow.behind;
  marked += flow.marked;
  stalled_flows += flow.stalled.empty() ? 0 : 1;
  cut_off_flows += flow.is_cut_off() ? 1 : 0;
  const uint64_t waited_ps = flow.latency.mean_ps - std::min(flow.latency.mean_ps, flow.latency.min_ps);
  waited_byte_ps += static_cast<double>(flow.received_bytes) * static_cast<double>(waited_ps);
  reliable += flow.reliable;
  merge(latency, flow.latency);
  if (flow.completion) completion_ps.push_back(flow.completion->count_ps());
  if (flow.acked) acked_ps.push_back(flow.acked->count_ps());
  listed = listed || flow.listed;
  if (const auto slowdown = flow.slowdown_millionths(); slowdown && flow.listed)
    slowdowns.push_back({flow.message_bytes * flow.planned_messages, *slowdown});
  first_sent = std::min(first_sent, flow.first_sent);
  if (!flow.last_arrived.is_never()) last_arrived = std::max(last_arrived, flow.last_arrived);
  if (const double rate = flow.goodput_bps(); rate > 0) {
    flow_rate_min_bps = flow_rate_min_bps == 0 ? rate : std::min(flow_rate_min_bps, rate);
    flow_rate_max_bps = std::max(flow_rate_max_bps, rate);
  }
}

std::optional<int64_t> quantile_of(std::vector<int64_t> values, double share) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::clamp<size_t>(rank, 1, values.size()) - 1];
}

double WorkloadTotals::rate_bps() const {
  if (first_sent.is_never() || last_arrived <= first_sent) return 0;
  return static_cast<double>(received_bytes) * 8 / (last_arrived - first_sent).seconds();
}

std::vector<WorkloadTotals> totals_by(const FabricSnapshot& snapshot, std::string FlowSnapshot::* field) {
  std::map<std::string, WorkloadTotals> groups;
  for (const FlowSnapshot& flow : snapshot.flows) groups[flow.*field].add(flow);
  std::vector<WorkloadTotals> out;
  for (auto& [name, totals] : groups) {
    totals.name = name;
    out.push_back(std::move(totals));
  }
  return out;
}

}  // namespace softspine::control
