// SPDX-License-Identifier: Apache-2.0
// The counters of links, workloads and reliable connections.
#include <algorithm>
#include <iterator>

#include "control/telemetry/counter_words.hpp"

namespace softspine::control {
namespace {

using dataplane::LinkCounters;

constexpr auto sent(uint64_t LinkCounters::* member) {
  return [member](const LinkDirection& part) { return part.sent.*member; };
}
constexpr auto workload(uint64_t WorkloadTotals::* member) {
  return [member](const WorkloadTotals& part) { return part.*member; };
}

std::vector<WorkloadCounter> flow_counters() {
  return {
      {workload(&WorkloadTotals::flows),
       {.unit = kCount,
        .nature = kNow,
        .report = "flows",
        .metric = "softspine_workload_flows",
        .help = "Flows of the workload."}},
      {[](const WorkloadTotals& w) { return uint64_t{w.completion_ps.size()}; },
       {.unit = kCount,
        .nature = kNow,
        .report = "completed",
        .metric = "softspine_workload_completed_flows",
        .help = "Flows whose last message has arrived."}},
      {workload(&WorkloadTotals::stalled_flows),
       {.unit = kCount,
        .nature = kNow,
        .report = "stalled_flows",
        .metric = "softspine_workload_stalled_flows",
        .help = "Flows that have not ended and have no way to go on; `stalled` says why."}},
      {workload(&WorkloadTotals::cut_off_flows),
       {.unit = kCount,
        .nature = kNow,
        .report = "cut_off_flows",
        .metric = "softspine_workload_cut_off_flows",
        .help =
            "Open-loop flows of whose last packets none has arrived: 32 in a row or more, or all that they sent."}}};
}

std::vector<WorkloadCounter> packet_counters() {
  return {{workload(&WorkloadTotals::sent_packets),
           {.unit = kPackets,
            .report = "sent_packets",
            .metric = "softspine_workload_tx_packets_total",
            .help = "RoCE packets sent."}},
          {workload(&WorkloadTotals::sent_bytes),
           {.unit = kBytes,
            .report = "sent_bytes",
            .metric = "softspine_workload_tx_bytes_total",
            .help = "Payload bytes sent."}},
          {workload(&WorkloadTotals::sent_messages),
           {.unit = kMessages, .report = "sent_messages", .help = "Messages sent."}},
          {workload(&WorkloadTotals::received_packets),
           {.unit = kPackets,
            .report = "received_packets",
            .metric = "softspine_workload_rx_packets_total",
            .help = "RoCE packets received."}},
          {workload(&WorkloadTotals::received_bytes),
           {.unit = kBytes,
            .report = "received_bytes",
            .metric = "softspine_workload_rx_bytes_total",
            .help = "Payload bytes received."}},
          {workload(&WorkloadTotals::received_messages),
           {.unit = kMessages, .report = "received_messages", .help = "Messages received whole."}},
          {workload(&WorkloadTotals::missing),
           {.unit = kPackets,
            .report = "missing_packets",
            .metric = "softspine_workload_missing_packets_total",
            .help = "RoCE packets sent that neither arrived nor are under way."}},
          {workload(&WorkloadTotals::under_way),
           {.unit = kPackets,
            .nature = kNow,
            .report = "under_way_packets",
            .metric = "softspine_workload_under_way_packets",
            .help = "RoCE packets on links, in queues and receive buffers."}},
          {workload(&WorkloadTotals::foreign),
           {.unit = kPackets,
            .report = "foreign_packets",
            .help = "Packets received that the flow's source did not send."}},
          {workload(&WorkloadTotals::sequence_gaps),
           {.unit = kCount, .report = "sequence_gaps", .help = "Times that a PSN was ahead of the one due."}},
          {workload(&WorkloadTotals::skipped_packets),
           {.unit = kPackets, .report = "skipped_packets", .help = "PSNs in those gaps: lost, or late."}},
          {workload(&WorkloadTotals::behind),
           {.unit = kPackets, .report = "behind_packets", .help = "Packets whose PSN was behind the one due."}},
          {workload(&WorkloadTotals::marked),
           {.unit = kPackets, .report = "marked_packets", .help = "Packets that arrived marked CE."}}};
}

}  // namespace

std::string_view word_for(Nature nature) {
  switch (nature) {
    case Nature::kGrows: return "counter";
    case Nature::kNow: return "gauge";
    case Nature::kHighest: return "watermark";
  }
  return "";
}

const std::vector<LinkCounter>& link_counters() {
  static const std::vector<LinkCounter> all{
      {[](const LinkDirection& l) { return l.sent.packets; },
       {.unit = kPackets, .report = "tx_packets", .help = "Frames sent."}},
      {[](const LinkDirection& l) { return l.sent.bytes; },
       {.unit = kBytes, .report = "tx_bytes", .help = "Bytes of frames sent, without FCS."}},
      {[](const LinkDirection& l) { return l.arrived; },
       {.unit = kPackets, .report = "rx_packets", .help = "Frames that the other end has taken."}},
      {[](const LinkDirection& l) { return l.under_way; },
       {.unit = kPackets, .nature = kNow, .report = "under_way_packets", .help = "Frames on the link."}},
      {sent(&LinkCounters::injected_packets),
       {.unit = kPackets, .report = "injected_packets", .help = "Frames put on the link by hand."}},
      {[](const LinkDirection& l) { return l.lost_packets(); },
       {.unit = kPackets,
        .report = "lost_packets",
        .metric = "softspine_link_lost_packets_total",
        .help = "Frames sent while the link was down, or under way when it went down."}},
      {sent(&LinkCounters::vanished_packets),
       {.unit = kPackets,
        .report = "vanished_packets",
        .metric = "softspine_link_vanished_packets_total",
        .help = "Frames that a faulty cable lost."}},
      {sent(&LinkCounters::damaged_packets),
       {.unit = kPackets,
        .report = "damaged_packets",
        .metric = "softspine_link_damaged_packets_total",
        .help = "Frames that a faulty cable damaged: FCS errors."}}};
  return all;
}

const std::vector<WorkloadCounter>& workload_counters() {
  static const std::vector<WorkloadCounter> all = [] {
    std::vector<WorkloadCounter> out = flow_counters();
    std::ranges::move(packet_counters(), std::back_inserter(out));
    return out;
  }();
  return all;
}

const std::vector<ReliableCounter>& reliable_counters() {
  static const std::vector<ReliableCounter> all = [] {
    std::vector<ReliableCounter> out;
    for (const auto& [member, facts] : ReliableCounts::rows()) {
      out.push_back({[member](const ReliableCounts& part) { return part.*member; }, facts});
    }
    return out;
  }();
  return all;
}

}  // namespace softspine::control
