// SPDX-License-Identifier: Apache-2.0
// The counts of a built-in host, and the table by which they are shown. The host counts in this struct, and snapshots
// hold it whole. No DPDK.
//
//   received = delivered + responses + answered + dropped (by reason) + buffered         packets
//
// To add a counter: a member and its row here, and the line that counts it.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/packet/drop_reason.hpp"
#include "dataplane/units/counter_facts.hpp"

namespace softspine::control {

struct HostCounts {
  uint64_t received_packets = 0;
  uint64_t received_bytes = 0;      // frames
  uint64_t delivered_packets = 0;   // to a receiving queue pair
  uint64_t responses = 0;           // acknowledgements and CNPs for a queue pair of ours: an open loop only counts them
  uint64_t answered = 0;            // ARP, ND, echo: turned into an answer
  uint64_t answers_sent = 0;        // those, acknowledgements, CNPs and LACPDUs that have left
  uint64_t unanswered = 0;          // acknowledgements and CNPs that there was no room or packet for
  uint64_t pauses_sent = 0;         // PFC frames
  uint64_t buffered = 0;            // wait in receive buffers
  uint64_t failovers = 0;           // ports that the bond has left, since their link was down or LACP had no partner
  uint64_t flows_moved = 0;         // to another port and back, by the bond
  uint64_t watchdog_storms = 0;     // ports that its NIC's watchdog has kept from pausing
  uint64_t ended_flow_packets = 0;  // of `dropped`, and of those delivered to a sink of another flow: a flow's payload
  dataplane::DropCounters dropped{};

  // The audit alone reads what was answered, is buffered, and ended of flows.
  static constexpr auto rows();
};

constexpr auto HostCounts::rows() {
  using enum dataplane::CounterUnit;
  return std::to_array<dataplane::CounterRow<HostCounts>>({
      {&HostCounts::received_packets,
       {.unit = kPackets,
        .report = "received_packets",
        .metric = "softspine_host_rx_packets_total",
        .help = "Frames that arrived at the host."}},
      {&HostCounts::received_bytes,
       {.unit = kBytes,
        .report = "received_bytes",
        .metric = "softspine_host_rx_bytes_total",
        .help = "Bytes of frames that arrived, without FCS."}},
      {&HostCounts::delivered_packets,
       {.unit = kPackets,
        .report = "delivered_packets",
        .metric = "softspine_host_delivered_packets_total",
        .help = "RoCE packets delivered to a queue pair."}},
      {&HostCounts::responses,
       {.unit = kPackets, .report = "responses", .help = "Acknowledgements, NAKs and CNPs delivered to a queue pair."}},
      {&HostCounts::unanswered,
       {.unit = kPackets, .report = "unanswered", .help = "Responses that there was no memory for."}},
      {&HostCounts::pauses_sent,
       {.unit = kFrames, .report = "pauses_sent", .help = "PFC and PAUSE frames sent, each once."}},
      {&HostCounts::failovers,
       {.unit = kCount,
        .report = "failovers",
        .metric = "softspine_host_failovers_total",
        .help = "Ports that the host's bond left, since it saw their link down or LACP had no partner there."}},
      {&HostCounts::flows_moved,
       {.unit = kCount,
        .report = "flows_moved",
        .metric = "softspine_host_flows_moved_total",
        .help = "Flows that the host's bond moved to another port, and back."}},
      {&HostCounts::watchdog_storms,
       {.unit = kCount,
        .report = "watchdog_storms",
        .metric = "softspine_host_pfc_watchdog_storms_total",
        .help = "Ports that the NIC's own watchdog has kept from pausing, since they took nothing in."}},
  });
}

}  // namespace softspine::control
