// SPDX-License-Identifier: Apache-2.0
// The counters of hosts, and of the edges that lead to hosts outside.
#include <algorithm>
#include <iterator>

#include "control/telemetry/counter_words.hpp"

namespace softspine::control {
namespace {

auto host_pause(uint64_t HostPauseSnapshot::* member) {
  return member_read(member);
}
constexpr auto edge(uint64_t dataplane::EdgeCounters::* member) {
  return [member](const EdgeSnapshot& part) { return part.counters.*member; };
}

// Of the port of a host or of its NIC.
constexpr CounterFacts kOfLinkPauseRx{.unit = kFrames,
                                      .report = "link_pause_rx_packets",
                                      .help = "PAUSE frames received: of the whole link, not of priorities."};
constexpr CounterFacts kOfLinkPauseTx{.unit = kFrames,
                                      .report = "link_pause_tx_packets",
                                      .help = "PAUSE frames sent: of the whole link, not of priorities."};
constexpr CounterFacts kOfLinkPaused{
    .unit = kTime,
    .report = "link_paused_ps",
    .help =
        "Time for which PAUSE frames stopped all that the port sends; a frame that is leaving does not stand still."};

// Of a priority at the port of a host or of its NIC.
constexpr CounterFacts kOfPfcRx{.unit = kFrames,
                                .report = "pfc_rx_packets",
                                .help = "PFC frames received, once for each priority named.",
                                .row = "rx_packets"};
constexpr CounterFacts kOfPfcTx{.unit = kFrames,
                                .report = "pfc_tx_packets",
                                .help = "PFC frames sent, once for each priority named.",
                                .row = "tx_packets"};
constexpr CounterFacts kOfOnToOff{
    .unit = kCount, .report = "pfc_on_to_off", .help = "Pauses of a priority that ended.", .row = "on_to_off"};
constexpr CounterFacts kOfPaused{
    .unit = kTime,
    .report = "paused_ps",
    .help = "Time for which a priority stood still: it was paused, and no frame of it was leaving."};
constexpr CounterFacts kOfRxPause{.unit = kTime,
                                  .report = "pfc_rx_pause_ps",
                                  .help = "Time for which the neighbour asked it to pause, obeyed or not.",
                                  .row = "rx_pause_ps"};
constexpr CounterFacts kOfTxPause{.unit = kTime,
                                  .report = "pfc_tx_pause_ps",
                                  .help = "Time for which it asked its neighbour to pause.",
                                  .row = "tx_pause_ps"};

std::vector<EdgeCounter> counters_of_edge() {
  using dataplane::EdgeCounters;
  return {{edge(&EdgeCounters::in_packets),
           {.unit = kPackets,
            .report = "in_packets",
            .metric = "softspine_edge_in_packets_total",
            .help = "Frames from outside."}},
          {edge(&EdgeCounters::in_bytes),
           {.unit = kBytes,
            .report = "in_bytes",
            .metric = "softspine_edge_in_bytes_total",
            .help = "Bytes from outside."}},
          {edge(&EdgeCounters::out_packets),
           {.unit = kPackets,
            .report = "out_packets",
            .metric = "softspine_edge_out_packets_total",
            .help = "Frames that the outside took."}},
          {edge(&EdgeCounters::out_bytes),
           {.unit = kBytes,
            .report = "out_bytes",
            .metric = "softspine_edge_out_bytes_total",
            .help = "Bytes that the outside took."}},
          {[](const EdgeSnapshot& e) { return e.link.packets; },
           {.unit = kPackets, .report = "tx_packets", .help = "Frames sent into the fabric."}},
          {edge(&EdgeCounters::arrived_packets),
           {.unit = kPackets, .report = "rx_packets", .help = "Frames that arrived from the fabric."}},
          {[](const EdgeSnapshot& e) { return e.waiting_for_outside; },
           {.unit = kPackets,
            .nature = kNow,
            .report = "held_packets",
            .help = "Frames from the fabric that the outside has not taken yet."}},
          {edge(&EdgeCounters::held_bytes_max),
           {.unit = kBytes,
            .nature = kHighest,
            .report = "held_max_bytes",
            .help = "Most that ever waited for the outside."}},
          {edge(&EdgeCounters::pauses),
           {.unit = kCount,
            .report = "pauses",
            .help = "Polls at which the outside was not asked, since the link was behind."}},
          {[](const EdgeSnapshot& e) { return e.waiting_packets; },
           {.unit = kPackets,
            .nature = kNow,
            .report = "waiting_packets",
            .help = "Frames from outside that are not on the link yet."}}};
}

// Of an edge, or of a host's port: both have a link and priorities that are paused.
template <typename Counter, typename Port>
std::vector<Counter> pauses_of() {
  return {{link_pause<Port>(&LinkPauseSnapshot::rx_frames), kOfLinkPauseRx},
          {link_pause<Port>(&LinkPauseSnapshot::tx_frames), kOfLinkPauseTx},
          {link_paused_ps<Port>, kOfLinkPaused},
          {host_pause(&HostPauseSnapshot::rx_frames), kOfPfcRx},
          {host_pause(&HostPauseSnapshot::tx_frames), kOfPfcTx},
          {host_pause(&HostPauseSnapshot::on_to_off), kOfOnToOff},
          {[](const HostPauseSnapshot& p) { return picoseconds(p.paused); }, kOfPaused},
          {[](const HostPauseSnapshot& p) { return picoseconds(p.rx_requested); }, kOfRxPause},
          {[](const HostPauseSnapshot& p) { return picoseconds(p.tx_requested); }, kOfTxPause}};
}

std::vector<HostCounter> sent_counters() {
  return {{[](const HostPortSnapshot& p) { return p.link.packets; },
           {.unit = kPackets, .report = "sent_packets", .help = "Frames that the host sent."}},
          {[](const HostPortSnapshot& p) { return p.link.bytes; },
           {.unit = kBytes, .report = "sent_bytes", .help = "Bytes of frames that the host sent, without FCS."}}};
}

std::vector<HostCounter> more_host_counters() {
  std::vector<HostCounter> out{{[](const HostSnapshot& h) { return h.receive_buffer_max_bytes; },
                                {.unit = kBytes,
                                 .nature = kHighest,
                                 .report = "receive_buffer_max_bytes",
                                 .help = "Most that ever waited in a receive buffer."}}};
  std::ranges::copy(pauses_of<HostCounter, HostPortSnapshot>(), std::back_inserter(out));
  out.push_back({waited_ps,
                 {.unit = kTime,
                  .report = "credit_wait_ps",
                  .help = "Time without credit for the largest frame, of all priorities."}});
  return out;
}

}  // namespace

const std::vector<HostCounter>& host_counters() {
  static const std::vector<HostCounter> all = [] {
    std::vector<HostCounter> out = sent_counters();
    for (const auto& [member, facts] : HostCounts::rows()) {
      out.push_back({[member](const HostSnapshot& host) { return host.counters.*member; }, facts});
    }
    std::ranges::copy(more_host_counters(), std::back_inserter(out));
    return out;
  }();
  return all;
}

const std::vector<EdgeCounter>& edge_counters() {
  static const std::vector<EdgeCounter> all = [] {
    std::vector<EdgeCounter> out = counters_of_edge();
    for (const auto& [member, facts] : dataplane::NicCounters::rows()) {
      out.push_back({[member](const EdgeSnapshot& edge) { return edge.nic.*member; }, facts});
    }
    std::ranges::copy(pauses_of<EdgeCounter, EdgeSnapshot>(), std::back_inserter(out));
    return out;
  }();
  return all;
}

}  // namespace softspine::control
