// SPDX-License-Identifier: Apache-2.0
// The counters of switches, of their ports, queues, priority groups and pools.
#include "control/telemetry/counter_words.hpp"
#include "control/telemetry/counters_json.hpp"

namespace softspine::control {
namespace {

using dataplane::DropReason;
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

std::vector<SwitchCounter> arrival_counters() {
  return {{[](const PortSnapshot& p) { return uint64_t{p.up}; },
           {.unit = kYesNo, .nature = kNow, .metric = "softspine_port_up", .help = "1 if the port's link is up."}},
          {[](const PortSnapshot& p) { return p.rate.count_bps() / 8; },
           {.unit = CounterUnit::kBytesPerSecond,
            .nature = kNow,
            .metric = "softspine_port_speed_bytes",
            .help = "Rate of the port's link, in bytes per second."}},
          {port(&PortCounters::rx_packets),
           {.unit = kPackets,
            .report = "rx_packets",
            .metric = "softspine_port_rx_packets_total",
            .help = "Frames that arrived at the port."}},
          {port(&PortCounters::rx_bytes),
           {.unit = kBytes,
            .report = "rx_bytes",
            .sai = "SAI_PORT_STAT_IF_IN_OCTETS",
            .metric = "softspine_port_rx_bytes_total",
            .help = "Bytes of frames that arrived, without FCS."}},
          {[](const PortSnapshot& p) { return p.counters.rx_unicast_packets(); },
           {.unit = kPackets, .sai = "SAI_PORT_STAT_IF_IN_UCAST_PKTS", .help = "Frames that arrived for one station."}},
          {port(&PortCounters::rx_multicast_packets),
           {.unit = kPackets,
            .sai = "SAI_PORT_STAT_IF_IN_MULTICAST_PKTS",
            .help = "Frames that arrived for several stations, PFC frames among them."}},
          {port(&PortCounters::rx_broadcast_packets),
           {.unit = kPackets,
            .sai = "SAI_PORT_STAT_IF_IN_BROADCAST_PKTS",
            .help = "Frames that arrived for all stations."}},
          {[](const PortSnapshot& p) { return p.counters.rx_multicast_packets + p.counters.rx_broadcast_packets; },
           {.unit = kPackets,
            .sai = "SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS",
            .help = "Frames that arrived for more than one station."}},
          {[](const PortSnapshot& p) { return discards_of(p.counters).in_discards; },
           {.unit = kPackets,
            .sai = "SAI_PORT_STAT_IF_IN_DISCARDS",
            .help = "Good frames that came in by the port and ended before they reached a queue."}},
          {[](const PortSnapshot& p) { return discards_of(p.counters).in_errors; },
           {.unit = kPackets, .sai = "SAI_PORT_STAT_IF_IN_ERRORS", .help = "Bad frames that came in by the port."}}};
}

std::vector<SwitchCounter> departure_counters() {
  return {
      {port(&PortCounters::tx_packets),
       {.unit = kPackets,
        .report = "tx_packets",
        .metric = "softspine_port_tx_packets_total",
        .help = "Frames that left by the port."}},
      {port(&PortCounters::tx_bytes),
       {.unit = kBytes,
        .report = "tx_bytes",
        .sai = "SAI_PORT_STAT_IF_OUT_OCTETS",
        .metric = "softspine_port_tx_bytes_total",
        .help = "Bytes of frames that left, without FCS."}},
      {[](const PortSnapshot& p) { return p.counters.tx_unicast_packets(); },
       {.unit = kPackets, .sai = "SAI_PORT_STAT_IF_OUT_UCAST_PKTS", .help = "Frames that left for one station."}},
      {port(&PortCounters::tx_multicast_packets),
       {.unit = kPackets,
        .sai = "SAI_PORT_STAT_IF_OUT_MULTICAST_PKTS",
        .help = "Frames that left for several stations, PFC frames among them."}},
      {port(&PortCounters::tx_broadcast_packets),
       {.unit = kPackets, .sai = "SAI_PORT_STAT_IF_OUT_BROADCAST_PKTS", .help = "Frames that left for all stations."}},
      {[](const PortSnapshot& p) { return p.counters.tx_multicast_packets + p.counters.tx_broadcast_packets; },
       {.unit = kPackets,
        .sai = "SAI_PORT_STAT_IF_OUT_NON_UCAST_PKTS",
        .help = "Frames that left for more than one station."}},
      {[](const PortSnapshot& p) { return discards_of(p.counters).out_discards; },
       {.unit = kPackets, .sai = "SAI_PORT_STAT_IF_OUT_DISCARDS", .help = "Frames that the port's queues refused."}},
      {[](const PortSnapshot& p) { return p.counters.queued_packets(); },
       {.unit = kPackets, .nature = kNow, .sai = "SAI_PORT_STAT_IF_OUT_QLEN", .help = "Frames in the port's queues."}},
      {port(&PortCounters::made_packets),
       {.unit = kPackets,
        .report = "made_packets",
        .metric = "softspine_port_made_packets_total",
        .help = "Frames that the switch made itself."}},
      {[](const PortSnapshot& p) { return p.counters.queued_packets(); },
       {.unit = kPackets,
        .nature = kNow,
        .report = "held_packets",
        .help = "Frames in queues, and those on the way out."}},
      {queue(&QueueCounters::ecn_marked_packets),
       {.unit = kPackets,
        .report = "ecn_marked_packets",
        .sai = "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS",
        .metric = "softspine_queue_ecn_marked_packets_total",
        .help = "Frames marked CE."}},
      {[](const PortSnapshot& p) {
         uint64_t sum = 0;
         for (const QueueCounters& each : p.counters.queues) sum += each.ecn_marked_packets;
         return sum;
       },
       {.unit = kPackets,
        .sai = "SAI_PORT_STAT_ECN_MARKED_PACKETS",
        .help = "Frames marked CE in any queue of the port."}}};
}

// A frame that names two priorities counts twice.
std::vector<SwitchCounter> pause_counters() {
  return {{pause(&PauseSnapshot::rx_frames),
           {.unit = kFrames,
            .report = "pfc_rx_packets",
            .sai = "SAI_PORT_STAT_PFC_#_RX_PKTS",
            .metric = "softspine_port_pfc_rx_packets_total",
            .help = "PFC frames received that name the priority."}},
          {pause(&PauseSnapshot::tx_frames),
           {.unit = kFrames,
            .report = "pfc_tx_packets",
            .sai = "SAI_PORT_STAT_PFC_#_TX_PKTS",
            .metric = "softspine_port_pfc_tx_packets_total",
            .help = "PFC frames sent that name the priority."}},
          {port(&PortCounters::pause_tx_frames),
           {.unit = kFrames, .report = "pause_tx_frames", .help = "PFC and PAUSE frames sent, each once."}},
          {link_pause<PortSnapshot>(&LinkPauseSnapshot::rx_frames),
           {.unit = kFrames,
            .report = "link_pause_rx_packets",
            .sai = "SAI_PORT_STAT_PAUSE_RX_PKTS",
            .metric = "softspine_port_link_pause_rx_packets_total",
            .help = "PAUSE frames received: of the whole link, not of priorities."}},
          {link_pause<PortSnapshot>(&LinkPauseSnapshot::tx_frames),
           {.unit = kFrames,
            .report = "link_pause_tx_packets",
            .sai = "SAI_PORT_STAT_PAUSE_TX_PKTS",
            .metric = "softspine_port_link_pause_tx_packets_total",
            .help = "PAUSE frames sent: of the whole link, not of priorities."}},
          {link_paused_ps<PortSnapshot>,
           {.unit = kTime,
            .report = "link_paused_ps",
            .metric = "softspine_port_link_paused_seconds_total",
            .help = "Time for which PAUSE frames stopped all that the port sends; a frame that is leaving does not "
                    "stand still."}}};
}

std::vector<SwitchCounter> priority_counters() {
  return {{[](const PauseSnapshot& p) { return uint64_t{p.paused}; },
           {.unit = kYesNo,
            .nature = kNow,
            .metric = "softspine_port_pfc_paused",
            .help = "1 if the priority must not be sent now."}},
          {pause(&PauseSnapshot::on_to_off),
           {.unit = kCount,
            .report = "pfc_on_to_off",
            .sai = "SAI_PORT_STAT_PFC_#_ON2OFF_RX_PKTS",
            .metric = "softspine_port_pfc_on_to_off_total",
            .help = "Pauses that ended."}},
          {[](const PauseSnapshot& p) { return picoseconds(p.time); },
           {.unit = kTime,
            .report = "paused_ps",
            .sai = "SAI_PORT_STAT_PFC_#_RX_PAUSE_DURATION_US",
            .metric = "softspine_port_pfc_paused_seconds_total",
            .help = "Time for which the priority stood still: it was paused, and no frame of it was leaving."}},
          {[](const PauseSnapshot& p) { return picoseconds(p.rx_requested); },
           {.unit = kTime,
            .report = "pfc_rx_pause_ps",
            .metric = "softspine_port_pfc_rx_pause_seconds_total",
            .help = "Time for which the neighbour asked the port to pause, obeyed or not."}},
          {[](const PauseSnapshot& p) { return picoseconds(p.tx_requested); },
           {.unit = kTime,
            .report = "pfc_tx_pause_ps",
            .sai = "SAI_PORT_STAT_PFC_#_TX_PAUSE_DURATION_US",
            .metric = "softspine_port_pfc_tx_pause_seconds_total",
            .help = "Time for which the port asked its neighbour to pause."}},
          {credit(&CreditSnapshot::rx_frames),
           {.unit = kFrames,
            .report = "credit_rx_frames",
            .sai = "CREDIT_RX_FRAMES",
            .metric = "softspine_port_credit_frames_total",
            .help = "Credit frames, of links that go by credit.",
            .direction = "rx"}},
          {credit(&CreditSnapshot::tx_frames),
           {.unit = kFrames,
            .report = "credit_tx_frames",
            .sai = "CREDIT_TX_FRAMES",
            .metric = "softspine_port_credit_frames_total",
            .help = "Credit frames, of links that go by credit.",
            .direction = "tx"}},
          {waited_ps,
           {.unit = kTime,
            .report = "credit_wait_ps",
            .sai = "CREDIT_#_WAIT_US",
            .metric = "softspine_port_credit_wait_seconds_total",
            .help = "Time without credit for the largest frame."}},
          {pause(&PauseSnapshot::storms),
           {.unit = kCount,
            .report = "watchdog_storms",
            .metric = "softspine_port_pfc_watchdog_storms_total",
            .help = "Storms that the watchdog found."}},
          {pause(&PauseSnapshot::restored),
           {.unit = kCount,
            .report = "watchdog_restored",
            .metric = "softspine_port_pfc_watchdog_restored_total",
            .help = "Storms that the watchdog found to be over."}}};
}

std::vector<SwitchCounter> priority_group_counters() {
  std::vector<SwitchCounter> out{{[](const PriorityGroupSnapshot& g) { return g.held_bytes(); },
                                  {.unit = kBytes,
                                   .nature = kNow,
                                   .sai = "SAI_INGRESS_PRIORITY_GROUP_STAT_CURR_OCCUPANCY_BYTES",
                                   .help = "Memory in use, of every kind."}},
                                 {group(&PriorityGroupSnapshot::reserved_bytes),
                                  {.unit = kBytes,
                                   .nature = kNow,
                                   .metric = "softspine_priority_group_reserved_bytes",
                                   .help = "Reserved memory in use.",
                                   .row = "reserved_bytes"}},
                                 {group(&PriorityGroupSnapshot::shared_bytes),
                                  {.unit = kBytes,
                                   .nature = kNow,
                                   .sai = "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_CURR_OCCUPANCY_BYTES",
                                   .metric = "softspine_priority_group_shared_bytes",
                                   .help = "Shared memory in use.",
                                   .row = "shared_bytes"}},
                                 {group(&PriorityGroupSnapshot::shared_watermark_bytes),
                                  {.unit = kBytes,
                                   .nature = kHighest,
                                   .sai = "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES",
                                   .metric = "softspine_priority_group_shared_watermark_bytes",
                                   .help = "Most shared memory that was ever in use.",
                                   .row = "shared_watermark_bytes"}},
                                 {group(&PriorityGroupSnapshot::headroom_bytes),
                                  {.unit = kBytes,
                                   .nature = kNow,
                                   .sai = "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_CURR_OCCUPANCY_BYTES",
                                   .metric = "softspine_priority_group_headroom_bytes",
                                   .help = "Headroom in use.",
                                   .row = "headroom_bytes"}},
                                 {group(&PriorityGroupSnapshot::headroom_watermark_bytes),
                                  {.unit = kBytes,
                                   .nature = kHighest,
                                   .report = "headroom_watermark_bytes",
                                   .sai = "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES",
                                   .metric = "softspine_priority_group_headroom_watermark_bytes",
                                   .help = "Most headroom that was ever in use."}},
                                 {group(&PriorityGroupSnapshot::packets),
                                  {.unit = kPackets,
                                   .sai = "SAI_INGRESS_PRIORITY_GROUP_STAT_PACKETS",
                                   .metric = "softspine_priority_group_packets_total",
                                   .help = "Frames that the priority group took.",
                                   .row = "packets"}}};
  for (const auto& [member, facts] : dataplane::PriorityGroupCounters::rows()) {
    const auto counters = [](const PriorityGroupSnapshot& group) { return &group.counters; };
    out.push_back({member_read<PriorityGroupSnapshot>(member, counters), facts});
  }
  out.push_back({[](const PortSnapshot& p) { return p.counters.drops[static_cast<size_t>(DropReason::kHeadroomFull)]; },
                 {.unit = kPackets,
                  .report = "headroom_dropped_packets",
                  .help = "Frames of a lossless priority that found the headroom full."}});
  return out;
}

std::vector<SwitchCounter> queue_counters() {
  return {{queue(&QueueCounters::packets),
           {.unit = kPackets,
            .sai = "SAI_QUEUE_STAT_PACKETS",
            .metric = "softspine_queue_packets_total",
            .help = "Frames that left the queue for the wire.",
            .row = "packets"}},
          {queue(&QueueCounters::bytes),
           {.unit = kBytes,
            .sai = "SAI_QUEUE_STAT_BYTES",
            .metric = "softspine_queue_bytes_total",
            .help = "Bytes that left the queue for the wire.",
            .row = "bytes"}},
          {queue(&QueueCounters::dropped_packets),
           {.unit = kPackets,
            .sai = "SAI_QUEUE_STAT_DROPPED_PACKETS",
            .metric = "softspine_queue_dropped_packets_total",
            .help = "Frames that the queue refused.",
            .row = "dropped_packets"}},
          {queue(&QueueCounters::dropped_bytes),
           {.unit = kBytes,
            .sai = "SAI_QUEUE_STAT_DROPPED_BYTES",
            .metric = "softspine_queue_dropped_bytes_total",
            .help = "Bytes that the queue refused.",
            .row = "dropped_bytes"}},
          {queue(&QueueCounters::current_bytes),
           {.unit = kBytes,
            .nature = kNow,
            .sai = "SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES",
            .metric = "softspine_queue_occupancy_bytes",
            .help = "Bytes in the queue.",
            .row = "current_bytes"}},
          {queue(&QueueCounters::watermark_bytes),
           {.unit = kBytes,
            .nature = kHighest,
            .report = "queue_watermark_bytes",
            .sai = "SAI_QUEUE_STAT_WATERMARK_BYTES",
            .metric = "softspine_queue_watermark_bytes",
            .help = "Most bytes that were ever in the queue.",
            .row = "watermark_bytes"}},
          {queue_buffer(&QueueBufferSnapshot::shared_bytes),
           {.unit = kBytes,
            .nature = kNow,
            .sai = "SAI_QUEUE_STAT_SHARED_CURR_OCCUPANCY_BYTES",
            .help = "Shared memory in use."}},
          {queue_buffer(&QueueBufferSnapshot::shared_watermark_bytes),
           {.unit = kBytes,
            .nature = kHighest,
            .sai = "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES",
            .help = "Most shared memory that was ever in use.",
            .row = "shared_watermark_bytes"}}};
}

std::vector<SwitchCounter> pool_counters() {
  return {{pool(&PoolSnapshot::size_bytes),
           {.unit = kBytes,
            .nature = kNow,
            .metric = "softspine_buffer_pool_size_bytes",
            .help = "What is shared of the pool."}},
          {[](const PoolSnapshot& p) { return p.reserved_bytes + p.shared_bytes; },
           {.unit = kBytes,
            .nature = kNow,
            .sai = "SAI_BUFFER_POOL_STAT_CURR_OCCUPANCY_BYTES",
            .help = "Memory in use, without headroom."}},
          {pool(&PoolSnapshot::shared_bytes),
           {.unit = kBytes,
            .nature = kNow,
            .metric = "softspine_buffer_pool_shared_bytes",
            .help = "Shared memory in use.",
            .row = "shared_bytes"}},
          {pool(&PoolSnapshot::reserved_bytes),
           {.unit = kBytes,
            .nature = kNow,
            .metric = "softspine_buffer_pool_reserved_bytes",
            .help = "Reserved memory in use.",
            .row = "reserved_bytes"}},
          {pool(&PoolSnapshot::watermark_bytes),
           {.unit = kBytes,
            .nature = kHighest,
            .sai = "SAI_BUFFER_POOL_STAT_WATERMARK_BYTES",
            .metric = "softspine_buffer_pool_watermark_bytes",
            .help = "Most shared memory that was ever in use.",
            .row = "watermark_bytes"}},
          {pool(&PoolSnapshot::headroom_bytes),
           {.unit = kBytes,
            .nature = kNow,
            .sai = "SAI_BUFFER_POOL_STAT_XOFF_ROOM_CURR_OCCUPANCY_BYTES",
            .metric = "softspine_buffer_pool_headroom_bytes",
            .help = "Headroom in use.",
            .row = "headroom_bytes"}},
          {pool(&PoolSnapshot::headroom_watermark_bytes),
           {.unit = kBytes,
            .nature = kHighest,
            .sai = "SAI_BUFFER_POOL_STAT_XOFF_ROOM_WATERMARK_BYTES",
            .metric = "softspine_buffer_pool_headroom_watermark_bytes",
            .help = "Most headroom that was ever in use.",
            .row = "headroom_watermark_bytes"}}};
}

std::vector<SwitchCounter> own_counters() {
  return {
      {of_switch(&SwitchSnapshot::short_hash_keys),
       {.unit = kPackets,
        .report = "short_hash_keys",
        .metric = "softspine_switch_short_hash_keys_total",
        .help = "Frames that ended before a UDF of their hash key did, hashed by what was there."}},
      {of_switch(&SwitchSnapshot::flowlets),
       {.unit = kCount, .report = "flowlets", .metric = "softspine_switch_flowlets_total", .help = "Flowlets begun."}},
      {of_switch(&SwitchSnapshot::override_hits),
       {.unit = kPackets,
        .report = "override_hits",
        .metric = "softspine_switch_override_hit_packets_total",
        .help = "Frames that an override has sent, in place of their routes."}},
      {of_switch(&SwitchSnapshot::override_fallbacks),
       {.unit = kPackets,
        .report = "override_fallbacks",
        .metric = "softspine_switch_override_fallback_packets_total",
        .help =
            "Frames of an override whose link was down or whose next hop had left the routes: sent as without it."}},
      {of_switch(&SwitchSnapshot::fdb_evictions),
       {.unit = kCount,
        .report = "fdb_evictions",
        .metric = "softspine_switch_fdb_evictions_total",
        .help = "MAC addresses forgotten for others."}},
      {of_switch(&SwitchSnapshot::neighbour_refusals),
       {.unit = kCount,
        .report = "neighbour_refusals",
        .metric = "softspine_switch_neighbour_refusals_total",
        .help = "Neighbours that there was no room for."}},
      {of_switch(&SwitchSnapshot::unknown_mac_floods),
       {.unit = kPackets,
        .report = "unknown_mac_floods",
        .metric = "softspine_switch_unknown_mac_flood_packets_total",
        .help = "Unicast frames flooded, since the port of their MAC was not known."}}};
}

}  // namespace

const std::vector<SwitchCounter>& switch_counters() {
  static const std::vector<SwitchCounter> all = [] {
    std::vector<SwitchCounter> out;
    for (const auto& part : {arrival_counters(), departure_counters(), pause_counters(), priority_counters(),
                             priority_group_counters(), queue_counters(), pool_counters(), own_counters()}) {
      out.insert(out.end(), part.begin(), part.end());
    }
    return out;
  }();
  return all;
}

}  // namespace softspine::control
