// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "control/telemetry/counter_words.hpp"
#include "control/telemetry/counters_json.hpp"

namespace softspine::control {

namespace {

using dataplane::DropReason;
using dataplane::LinkCounters;
using dataplane::PortCounters;
using dataplane::QueueCounters;

// A member of what a part holds.
auto port(uint64_t PortCounters::* member) {
  return member_read<PortSnapshot>(member, [](const PortSnapshot& part) { return &part.counters; });
}
auto queue(uint64_t QueueCounters::* member) {
  return member_read<QueueOf>(member, [](const QueueOf& part) { return &part.counters(); });
}
auto queue_buffer(uint64_t QueueBufferSnapshot::* member) {
  return member_read<QueueOf>(member, [](const QueueOf& part) {
    return part.port.buffers ? &part.port.buffers->queues[part.number] : nullptr;
  });
}
auto group(uint64_t PriorityGroupSnapshot::* member) {
  return member_read(member);
}
auto pool(uint64_t PoolSnapshot::* member) {
  return member_read(member);
}
auto pause(uint64_t PauseSnapshot::* member) {
  return member_read(member);
}
auto credit(uint64_t CreditSnapshot::* member) {
  return member_read(member);
}
auto of_switch(uint64_t SwitchSnapshot::* member) {
  return member_read(member);
}

constexpr auto sent(uint64_t LinkCounters::* member) {
  return [member](const LinkDirection& part) { return part.sent.*member; };
}
constexpr auto workload(uint64_t WorkloadTotals::* member) {
  return [member](const WorkloadTotals& part) { return part.*member; };
}

std::vector<SwitchCounter> port_counters() {
  return {
      {[](const PortSnapshot& p) { return uint64_t{p.up}; },
       {kYesNo, kNow, "", "", "softspine_port_up", "1 if the port's link is up."}},
      {[](const PortSnapshot& p) { return p.rate.count_bps() / 8; },
       {CounterUnit::kBytesPerSecond, kNow, "", "", "softspine_port_speed_bytes",
        "Rate of the port's link, in bytes per second."}},
      {port(&PortCounters::rx_packets),
       {kPackets, kGrows, "rx_packets", "", "softspine_port_rx_packets_total", "Frames that arrived at the port."}},
      {port(&PortCounters::rx_bytes),
       {kBytes, kGrows, "rx_bytes", "SAI_PORT_STAT_IF_IN_OCTETS", "softspine_port_rx_bytes_total",
        "Bytes of frames that arrived, without FCS."}},
      {[](const PortSnapshot& p) { return p.counters.rx_unicast_packets(); },
       {kPackets, kGrows, "", "SAI_PORT_STAT_IF_IN_UCAST_PKTS", "", "Frames that arrived for one station."}},
      {port(&PortCounters::rx_multicast_packets),
       {kPackets, kGrows, "", "SAI_PORT_STAT_IF_IN_MULTICAST_PKTS", "",
        "Frames that arrived for several stations, PFC frames among them."}},
      {port(&PortCounters::rx_broadcast_packets),
       {kPackets, kGrows, "", "SAI_PORT_STAT_IF_IN_BROADCAST_PKTS", "", "Frames that arrived for all stations."}},
      {[](const PortSnapshot& p) { return p.counters.rx_multicast_packets + p.counters.rx_broadcast_packets; },
       {kPackets, kGrows, "", "SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS", "",
        "Frames that arrived for more than one station."}},
      {[](const PortSnapshot& p) { return discards_of(p.counters).in_discards; },
       {kPackets, kGrows, "", "SAI_PORT_STAT_IF_IN_DISCARDS", "",
        "Good frames that came in by the port and ended before they reached a queue."}},
      {[](const PortSnapshot& p) { return discards_of(p.counters).in_errors; },
       {kPackets, kGrows, "", "SAI_PORT_STAT_IF_IN_ERRORS", "", "Bad frames that came in by the port."}},
      {port(&PortCounters::tx_packets),
       {kPackets, kGrows, "tx_packets", "", "softspine_port_tx_packets_total", "Frames that left by the port."}},
      {port(&PortCounters::tx_bytes),
       {kBytes, kGrows, "tx_bytes", "SAI_PORT_STAT_IF_OUT_OCTETS", "softspine_port_tx_bytes_total",
        "Bytes of frames that left, without FCS."}},
      {[](const PortSnapshot& p) { return p.counters.tx_unicast_packets(); },
       {kPackets, kGrows, "", "SAI_PORT_STAT_IF_OUT_UCAST_PKTS", "", "Frames that left for one station."}},
      {port(&PortCounters::tx_multicast_packets),
       {kPackets, kGrows, "", "SAI_PORT_STAT_IF_OUT_MULTICAST_PKTS", "",
        "Frames that left for several stations, PFC frames among them."}},
      {port(&PortCounters::tx_broadcast_packets),
       {kPackets, kGrows, "", "SAI_PORT_STAT_IF_OUT_BROADCAST_PKTS", "", "Frames that left for all stations."}},
      {[](const PortSnapshot& p) { return p.counters.tx_multicast_packets + p.counters.tx_broadcast_packets; },
       {kPackets, kGrows, "", "SAI_PORT_STAT_IF_OUT_NON_UCAST_PKTS", "",
        "Frames that left for more than one station."}},
      {[](const PortSnapshot& p) { return discards_of(p.counters).out_discards; },
       {kPackets, kGrows, "", "SAI_PORT_STAT_IF_OUT_DISCARDS", "", "Frames that the port's queues refused."}},
      {[](const PortSnapshot& p) { return p.counters.queued_packets(); },
       {kPackets, kNow, "", "SAI_PORT_STAT_IF_OUT_QLEN", "", "Frames in the port's queues."}},
      {port(&PortCounters::made_packets),
       {kPackets, kGrows, "made_packets", "", "softspine_port_made_packets_total",
        "Frames that the switch made itself."}},
      {[](const PortSnapshot& p) { return p.counters.queued_packets(); },
       {kPackets, kNow, "held_packets", "", "", "Frames in queues, and those on the way out."}},
      {queue(&QueueCounters::ecn_marked_packets),
       {kPackets, kGrows, "ecn_marked_packets", "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS",
        "softspine_queue_ecn_marked_packets_total", "Frames marked CE."}},
      {[](const PortSnapshot& p) {
         uint64_t sum = 0;
         for (const QueueCounters& each : p.counters.queues) sum += each.ecn_marked_packets;
         return sum;
       },
       {kPackets, kGrows, "", "SAI_PORT_STAT_ECN_MARKED_PACKETS", "", "Frames marked CE in any queue of the port."}}};
}

// A frame that names two counts twice.
std::vector<SwitchCounter> priority_counters() {
  return {
      {pause(&PauseSnapshot::rx_frames),
       {kFrames, kGrows, "pfc_rx_packets", "SAI_PORT_STAT_PFC_#_RX_PKTS", "softspine_port_pfc_rx_packets_total",
        "PFC frames received that name the priority."}},
      {pause(&PauseSnapshot::tx_frames),
       {kFrames, kGrows, "pfc_tx_packets", "SAI_PORT_STAT_PFC_#_TX_PKTS", "softspine_port_pfc_tx_packets_total",
        "PFC frames sent that name the priority."}},
      {port(&PortCounters::pause_tx_frames),
       {kFrames, kGrows, "pause_tx_frames", "", "", "PFC and PAUSE frames sent, each once."}},
      {link_pause<PortSnapshot>(&LinkPauseSnapshot::rx_frames),
       {kFrames, kGrows, "link_pause_rx_packets", "SAI_PORT_STAT_PAUSE_RX_PKTS",
        "softspine_port_link_pause_rx_packets_total", "PAUSE frames received: of the whole link, not of priorities."}},
      {link_pause<PortSnapshot>(&LinkPauseSnapshot::tx_frames),
       {kFrames, kGrows, "link_pause_tx_packets", "SAI_PORT_STAT_PAUSE_TX_PKTS",
        "softspine_port_link_pause_tx_packets_total", "PAUSE frames sent: of the whole link, not of priorities."}},
      {link_paused_ps<PortSnapshot>,
       {kTime, kGrows, "link_paused_ps", "", "softspine_port_link_paused_seconds_total",
        "Time for which PAUSE frames stopped all that the port sends; a frame that is leaving does not stand still."}},
      {[](const PauseSnapshot& p) { return uint64_t{p.paused}; },
       {kYesNo, kNow, "", "", "softspine_port_pfc_paused", "1 if the priority must not be sent now."}},
      {pause(&PauseSnapshot::on_to_off),
       {kCount, kGrows, "pfc_on_to_off", "SAI_PORT_STAT_PFC_#_ON2OFF_RX_PKTS", "softspine_port_pfc_on_to_off_total",
        "Pauses that ended."}},
      {[](const PauseSnapshot& p) { return picoseconds(p.time); },
       {kTime, kGrows, "paused_ps", "SAI_PORT_STAT_PFC_#_RX_PAUSE_DURATION_US",
        "softspine_port_pfc_paused_seconds_total",
        "Time for which the priority stood still: it was paused, and no frame of it was leaving."}},
      {[](const PauseSnapshot& p) { return picoseconds(p.rx_requested); },
       {kTime, kGrows, "pfc_rx_pause_ps", "", "softspine_port_pfc_rx_pause_seconds_total",
        "Time for which the neighbour asked the port to pause, obeyed or not."}},
      {[](const PauseSnapshot& p) { return picoseconds(p.tx_requested); },
       {kTime, kGrows, "pfc_tx_pause_ps", "SAI_PORT_STAT_PFC_#_TX_PAUSE_DURATION_US",
        "softspine_port_pfc_tx_pause_seconds_total", "Time for which the port asked its neighbour to pause."}},
      {credit(&CreditSnapshot::rx_frames),
       {kFrames, kGrows, "credit_rx_frames", "CREDIT_RX_FRAMES", "softspine_port_credit_frames_total",
        "Credit frames, of links that go by credit.", "rx"}},
      {credit(&CreditSnapshot::tx_frames),
       {kFrames, kGrows, "credit_tx_frames", "CREDIT_TX_FRAMES", "softspine_port_credit_frames_total",
        "Credit frames, of links that go by credit.", "tx"}},
      {waited_ps,
       {kTime, kGrows, "credit_wait_ps", "CREDIT_#_WAIT_US", "softspine_port_credit_wait_seconds_total",
        "Time without credit for the largest frame."}},
      {pause(&PauseSnapshot::storms),
       {kCount, kGrows, "watchdog_storms", "", "softspine_port_pfc_watchdog_storms_total",
        "Storms that the watchdog found."}},
      {pause(&PauseSnapshot::restored),
       {kCount, kGrows, "watchdog_restored", "", "softspine_port_pfc_watchdog_restored_total",
        "Storms that the watchdog found to be over."}}};
}

std::vector<SwitchCounter> priority_group_counters() {
  std::vector<SwitchCounter> out{
      {[](const PriorityGroupSnapshot& g) { return g.held_bytes(); },
       {kBytes, kNow, "", "SAI_INGRESS_PRIORITY_GROUP_STAT_CURR_OCCUPANCY_BYTES", "", "Memory in use, of every kind."}},
      {group(&PriorityGroupSnapshot::reserved_bytes),
       {kBytes, kNow, "", "", "softspine_priority_group_reserved_bytes", "Reserved memory in use.", "",
        "reserved_bytes"}},
      {group(&PriorityGroupSnapshot::shared_bytes),
       {kBytes, kNow, "", "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_CURR_OCCUPANCY_BYTES",
        "softspine_priority_group_shared_bytes", "Shared memory in use.", "", "shared_bytes"}},
      {group(&PriorityGroupSnapshot::shared_watermark_bytes),
       {kBytes, kHighest, "", "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES",
        "softspine_priority_group_shared_watermark_bytes", "Most shared memory that was ever in use.", "",
        "shared_watermark_bytes"}},
      {group(&PriorityGroupSnapshot::headroom_bytes),
       {kBytes, kNow, "", "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_CURR_OCCUPANCY_BYTES",
        "softspine_priority_group_headroom_bytes", "Headroom in use.", "", "headroom_bytes"}},
      {group(&PriorityGroupSnapshot::headroom_watermark_bytes),
       {kBytes, kHighest, "headroom_watermark_bytes", "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES",
        "softspine_priority_group_headroom_watermark_bytes", "Most headroom that was ever in use."}},
      {group(&PriorityGroupSnapshot::packets),
       {kPackets, kGrows, "", "SAI_INGRESS_PRIORITY_GROUP_STAT_PACKETS", "softspine_priority_group_packets_total",
        "Frames that the priority group took.", "", "packets"}}};
  for (const auto& [member, facts] : dataplane::PriorityGroupCounters::rows()) {
    const auto counters = [](const PriorityGroupSnapshot& group) { return &group.counters; };
    out.push_back({member_read<PriorityGroupSnapshot>(member, counters), facts});
  }
  out.push_back({[](const PortSnapshot& p) { return p.counters.drops[static_cast<size_t>(DropReason::kHeadroomFull)]; },
                 {kPackets, kGrows, "headroom_dropped_packets", "", "",
                  "Frames of a lossless priority that found the headroom full."}});
  return out;
}

std::vector<SwitchCounter> queue_counters() {
  return {{queue(&QueueCounters::packets),
           {kPackets, kGrows, "", "SAI_QUEUE_STAT_PACKETS", "softspine_queue_packets_total",
            "Frames that left the queue for the wire.", "", "packets"}},
          {queue(&QueueCounters::bytes),
           {kBytes, kGrows, "", "SAI_QUEUE_STAT_BYTES", "softspine_queue_bytes_total",
            "Bytes that left the queue for the wire.", "", "bytes"}},
          {queue(&QueueCounters::dropped_packets),
           {kPackets, kGrows, "", "SAI_QUEUE_STAT_DROPPED_PACKETS", "softspine_queue_dropped_packets_total",
            "Frames that the queue refused.", "", "dropped_packets"}},
          {queue(&QueueCounters::dropped_bytes),
           {kBytes, kGrows, "", "SAI_QUEUE_STAT_DROPPED_BYTES", "softspine_queue_dropped_bytes_total",
            "Bytes that the queue refused.", "", "dropped_bytes"}},
          {queue(&QueueCounters::current_bytes),
           {kBytes, kNow, "", "SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES", "softspine_queue_occupancy_bytes",
            "Bytes in the queue.", "", "current_bytes"}},
          {queue(&QueueCounters::watermark_bytes),
           {kBytes, kHighest, "queue_watermark_bytes", "SAI_QUEUE_STAT_WATERMARK_BYTES",
            "softspine_queue_watermark_bytes", "Most bytes that were ever in the queue.", "", "watermark_bytes"}},
          {queue_buffer(&QueueBufferSnapshot::shared_bytes),
           {kBytes, kNow, "", "SAI_QUEUE_STAT_SHARED_CURR_OCCUPANCY_BYTES", "", "Shared memory in use."}},
          {queue_buffer(&QueueBufferSnapshot::shared_watermark_bytes),
           {kBytes, kHighest, "", "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES", "",
            "Most shared memory that was ever in use.", "", "shared_watermark_bytes"}}};
}

std::vector<SwitchCounter> pool_counters() {
  return {
      {pool(&PoolSnapshot::size_bytes),
       {kBytes, kNow, "", "", "softspine_buffer_pool_size_bytes", "What is shared of the pool."}},
      {[](const PoolSnapshot& p) { return p.reserved_bytes + p.shared_bytes; },
       {kBytes, kNow, "", "SAI_BUFFER_POOL_STAT_CURR_OCCUPANCY_BYTES", "", "Memory in use, without headroom."}},
      {pool(&PoolSnapshot::shared_bytes),
       {kBytes, kNow, "", "", "softspine_buffer_pool_shared_bytes", "Shared memory in use.", "", "shared_bytes"}},
      {pool(&PoolSnapshot::reserved_bytes),
       {kBytes, kNow, "", "", "softspine_buffer_pool_reserved_bytes", "Reserved memory in use.", "", "reserved_bytes"}},
      {pool(&PoolSnapshot::watermark_bytes),
       {kBytes, kHighest, "", "SAI_BUFFER_POOL_STAT_WATERMARK_BYTES", "softspine_buffer_pool_watermark_bytes",
        "Most shared memory that was ever in use.", "", "watermark_bytes"}},
      {pool(&PoolSnapshot::headroom_bytes),
       {kBytes, kNow, "", "SAI_BUFFER_POOL_STAT_XOFF_ROOM_CURR_OCCUPANCY_BYTES", "softspine_buffer_pool_headroom_bytes",
        "Headroom in use.", "", "headroom_bytes"}},
      {pool(&PoolSnapshot::headroom_watermark_bytes),
       {kBytes, kHighest, "", "SAI_BUFFER_POOL_STAT_XOFF_ROOM_WATERMARK_BYTES",
        "softspine_buffer_pool_headroom_watermark_bytes", "Most headroom that was ever in use.", "",
        "headroom_watermark_bytes"}}};
}

std::vector<SwitchCounter> own_counters() {
  return {{of_switch(&SwitchSnapshot::short_hash_keys),
           {kPackets, kGrows, "short_hash_keys", "", "softspine_switch_short_hash_keys_total",
            "Frames that ended before a UDF of their hash key did, hashed by what was there."}},
          {of_switch(&SwitchSnapshot::flowlets),
           {kCount, kGrows, "flowlets", "", "softspine_switch_flowlets_total", "Flowlets begun."}},
          {of_switch(&SwitchSnapshot::override_hits),
           {kPackets, kGrows, "override_hits", "", "softspine_switch_override_hit_packets_total",
            "Frames that an override has sent, in place of their routes."}},
          {of_switch(&SwitchSnapshot::override_fallbacks),
           {kPackets, kGrows, "override_fallbacks", "", "softspine_switch_override_fallback_packets_total",
            "Frames of an override whose link was down or whose next hop had left the routes: sent as without it."}},
          {of_switch(&SwitchSnapshot::fdb_evictions),
           {kCount, kGrows, "fdb_evictions", "", "softspine_switch_fdb_evictions_total",
            "MAC addresses forgotten for others."}},
          {of_switch(&SwitchSnapshot::neighbour_refusals),
           {kCount, kGrows, "neighbour_refusals", "", "softspine_switch_neighbour_refusals_total",
            "Neighbours that there was no room for."}},
          {of_switch(&SwitchSnapshot::unknown_mac_floods),
           {kPackets, kGrows, "unknown_mac_floods", "", "softspine_switch_unknown_mac_flood_packets_total",
            "Unicast frames flooded, since the port of their MAC was not known."}}};
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

const std::vector<SwitchCounter>& switch_counters() {
  static const std::vector<SwitchCounter> all = [] {
    std::vector<SwitchCounter> out;
    for (const auto& part : {port_counters(), priority_counters(), priority_group_counters(), queue_counters(),
                             pool_counters(), own_counters()}) {
      out.insert(out.end(), part.begin(), part.end());
    }
    return out;
  }();
  return all;
}

const std::vector<LinkCounter>& link_counters() {
  static const std::vector<LinkCounter> all{
      {[](const LinkDirection& l) { return l.sent.packets; }, {kPackets, kGrows, "tx_packets", "", "", "Frames sent."}},
      {[](const LinkDirection& l) { return l.sent.bytes; },
       {kBytes, kGrows, "tx_bytes", "", "", "Bytes of frames sent, without FCS."}},
      {[](const LinkDirection& l) { return l.arrived; },
       {kPackets, kGrows, "rx_packets", "", "", "Frames that the other end has taken."}},
      {[](const LinkDirection& l) { return l.under_way; },
       {kPackets, kNow, "under_way_packets", "", "", "Frames on the link."}},
      {sent(&LinkCounters::injected_packets),
       {kPackets, kGrows, "injected_packets", "", "", "Frames put on the link by hand."}},
      {[](const LinkDirection& l) { return l.lost_packets(); },
       {kPackets, kGrows, "lost_packets", "", "softspine_link_lost_packets_total",
        "Frames sent while the link was down, or under way when it went down."}},
      {sent(&LinkCounters::vanished_packets),
       {kPackets, kGrows, "vanished_packets", "", "softspine_link_vanished_packets_total",
        "Frames that a faulty cable lost."}},
      {sent(&LinkCounters::damaged_packets),
       {kPackets, kGrows, "damaged_packets", "", "softspine_link_damaged_packets_total",
        "Frames that a faulty cable damaged: FCS errors."}}};
  return all;
}

const std::vector<WorkloadCounter>& workload_counters() {
  static const std::vector<WorkloadCounter> all{
      {workload(&WorkloadTotals::flows),
       {kCount, kNow, "flows", "", "softspine_workload_flows", "Flows of the workload."}},
      {[](const WorkloadTotals& w) { return uint64_t{w.completion_ps.size()}; },
       {kCount, kNow, "completed", "", "softspine_workload_completed_flows", "Flows whose last message has arrived."}},
      {workload(&WorkloadTotals::stalled_flows),
       {kCount, kNow, "stalled_flows", "", "softspine_workload_stalled_flows",
        "Flows that have not ended and have no way to go on; `stalled` says why."}},
      {workload(&WorkloadTotals::cut_off_flows),
       {kCount, kNow, "cut_off_flows", "", "softspine_workload_cut_off_flows",
        "Open-loop flows of whose last packets none has arrived: 32 in a row or more, or all that they sent."}},
      {workload(&WorkloadTotals::sent_packets),
       {kPackets, kGrows, "sent_packets", "", "softspine_workload_tx_packets_total", "RoCE packets sent."}},
      {workload(&WorkloadTotals::sent_bytes),
       {kBytes, kGrows, "sent_bytes", "", "softspine_workload_tx_bytes_total", "Payload bytes sent."}},
      {workload(&WorkloadTotals::sent_messages), {kMessages, kGrows, "sent_messages", "", "", "Messages sent."}},
      {workload(&WorkloadTotals::received_packets),
       {kPackets, kGrows, "received_packets", "", "softspine_workload_rx_packets_total", "RoCE packets received."}},
      {workload(&WorkloadTotals::received_bytes),
       {kBytes, kGrows, "received_bytes", "", "softspine_workload_rx_bytes_total", "Payload bytes received."}},
      {workload(&WorkloadTotals::received_messages),
       {kMessages, kGrows, "received_messages", "", "", "Messages received whole."}},
      {workload(&WorkloadTotals::missing),
       {kPackets, kGrows, "missing_packets", "", "softspine_workload_missing_packets_total",
        "RoCE packets sent that neither arrived nor are under way."}},
      {workload(&WorkloadTotals::under_way),
       {kPackets, kNow, "under_way_packets", "", "softspine_workload_under_way_packets",
        "RoCE packets on links, in queues and receive buffers."}},
      {workload(&WorkloadTotals::foreign),
       {kPackets, kGrows, "foreign_packets", "", "", "Packets received that the flow's source did not send."}},
      {workload(&WorkloadTotals::sequence_gaps),
       {kCount, kGrows, "sequence_gaps", "", "", "Times that a PSN was ahead of the one due."}},
      {workload(&WorkloadTotals::skipped_packets),
       {kPackets, kGrows, "skipped_packets", "", "", "PSNs in those gaps: lost, or late."}},
      {workload(&WorkloadTotals::behind),
       {kPackets, kGrows, "behind_packets", "", "", "Packets whose PSN was behind the one due."}},
      {workload(&WorkloadTotals::marked),
       {kPackets, kGrows, "marked_packets", "", "", "Packets that arrived marked CE."}}};
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
