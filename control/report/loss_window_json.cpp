// SPDX-License-Identifier: Apache-2.0
#include "control/report/loss_window_json.hpp"

#include <algorithm>

#include "control/telemetry/json.hpp"

namespace softspine::control {

namespace {

using dataplane::Instant;

Json or_null(Instant at) {
  return at.is_never() ? Json{} : Json(at.count_ps());
}

Json sums_json(const std::vector<ReasonLoss>& sums) {
  Json out = Json::array();
  for (const ReasonLoss& each : sums) {
    out.push_back({{"reason", each.reason},
                   {"packets", each.sum.packets},
                   {"bytes", each.sum.bytes},
                   {"first_ps", or_null(each.sum.first)},
                   {"last_ps", each.sum.last.count_ps()}});
  }
  return out;
}

Json flows_json(const LossWindow& window, const std::vector<FlowSnapshot>& flows) {
  Json out = Json::array();
  for (size_t i = 0; i < std::min(window.flows.size(), kFlowsOfAFault); ++i) {
    const FlowLoss& each = window.flows[i];
    const FlowSnapshot& flow = flows[each.flow];
    out.push_back({{"flow", flow.id},
                   {"workload", flow.workload},
                   {"source", flow.source},
                   {"destination", flow.destination},
                   {"lost_packets", each.packets},
                   {"lost_bytes", each.bytes},
                   {"stalled_ps", each.stalled.count_ps()},
                   {"still_stalled", each.still}});
  }
  return out;
}

// Without the empty bins at its end.
Json over_time_json(const LossBins& bins) {
  size_t count = bins.packets.size();
  while (count > 0 && bins.packets[count - 1] == 0) --count;
  return {{"bin_ps", bins.width.count_ps()},
          {"packets", std::vector<uint32_t>(bins.packets.begin(), bins.packets.begin() + static_cast<long>(count))}};
}

Json window_json(const LossWindow& window, const std::vector<FlowSnapshot>& flows) {
  const bool any = window.lost.packets > 0;
  const auto lost = std::ranges::count_if(window.flows, [](const FlowLoss& each) { return each.packets > 0; });
  const auto stalled =
      std::ranges::count_if(window.flows, [](const FlowLoss& each) { return each.stalled.count_ps() > 0; });
  dataplane::Duration longest;
  for (const FlowLoss& each : window.flows) longest = std::max(longest, each.stalled);
  return {{"detected_ps", or_null(window.detected)},
          {"converged_ps", or_null(window.converged)},
          {"last_loss_ps", any ? Json(window.lost.last.count_ps()) : Json{}},
          {"window_ps", any ? (window.lost.last - window.at).count_ps() : 0},
          {"moving_ps", or_null(window.moving)},
          {"ended_ps", or_null(window.ended)},
          {"recovered_ps", or_null(window.recovered)},
          {"lost_packets", window.lost.packets},
          {"lost_bytes", window.lost.bytes},
          {"reasons", sums_json(window.reasons)},
          {"flows_lost", lost},
          {"flows_stalled", stalled},
          {"longest_stall_ps", longest.count_ps()},
          {"flows", flows_json(window, flows)},
          {"unlisted_packets", window.unlisted_packets},
          {"over_time", over_time_json(window.over_time)}};
}

}  // namespace

Json faults_json(const FabricSnapshot& snapshot) {
  Json out = Json::array();
  for (const FaultSnapshot& fault : snapshot.faults) {
    out.push_back({{"at_ps", fault.at.count_ps()}, {"what", fault.what}});
    if (fault.window) add_key(out.back(), "loss_window", window_json(*fault.window, snapshot.flows));
  }
  return out;
}

Json unexplained_json(const FabricSnapshot& snapshot) {
  return snapshot.loss_account ? sums_json(snapshot.loss_account->unexplained) : Json::array();
}

std::vector<ReportField> fault_fields() {
  const std::string window = "faults.*.loss_window.";
  std::vector<ReportField> out{
      {"faults.*.at_ps", "ps", "When a fault of the testbed struck or ended."},
      {"faults.*.what", "text", "What it did, to whom."},
      {window + "detected_ps", "ps", "When the first switch knew of it; none without `detection`."},
      {window + "converged_ps", "ps", "When the last switch had followed it with its routes; none if routes need not."},
      {window + "last_loss_ps", "ps", "When the last packet was lost by it."},
      {window + "window_ps", "ps", "From the fault to that loss; 0 if nothing was lost."},
      {window + "moving_ps", "ps", "When the last flow that had stood still moved again; none while one does."},
      {window + "ended_ps", "ps", "When what had failed worked again."},
      {window + "recovered_ps", "ps",
       "When everything was as before: repaired, LACP agreed, routes as they were, all flows moving."},
      {window + "lost_packets", "packets", "Packets lost by it: the latest fault that explains a loss has it."},
      {window + "lost_bytes", "bytes", "Their frames without FCS."},
      {window + "flows_lost", "a count", "Flows that lost packets by it."},
      {window + "flows_stalled", "a count", "Flows that stood still from it on."},
      {window + "longest_stall_ps", "ps", "The longest time without a packet for one of them."},
      {window + "unlisted_packets", "packets", "Of flows beyond the limit of what is kept by flow."},
      {window + "over_time.bin_ps", "ps", "Width of the bins in which losses are counted over time."},
      {window + "over_time.packets.*", "packets", "Packets lost in a bin, from the fault on."},
      {window + "flows.*.flow", "a number", "One of the hundred flows that lost most, then stood still longest."},
      {window + "flows.*.workload", "text", "Its workload."},
      {window + "flows.*.source", "text", "The host that sends it."},
      {window + "flows.*.destination", "text", "The host that receives it."},
      {window + "flows.*.lost_packets", "packets", "What it lost by the fault."},
      {window + "flows.*.lost_bytes", "bytes", "Likewise, as frames without FCS."},
      {window + "flows.*.stalled_ps", "ps", "The longest time in which none of its packets arrived."},
      {window + "flows.*.still_stalled", "true or false", "It still stood still when the run ended."},
  };
  for (const std::string& path : {window + "reasons.*.", std::string{"unexplained_losses.*."}}) {
    const bool explained = path.starts_with("faults");
    out.push_back({path + "reason", "text",
                   explained ? "Why packets were lost by it, as in `losses`."
                             : "Why packets were lost that no fault explains, as in `losses`."});
    out.push_back({path + "packets", "packets", "How many for this reason."});
    out.push_back({path + "bytes", "bytes", "Their frames without FCS."});
    out.push_back({path + "first_ps", "ps", "When the first of them was lost."});
    out.push_back({path + "last_ps", "ps", "When the last of them was lost."});
  }
  return out;
}

}  // namespace softspine::control
