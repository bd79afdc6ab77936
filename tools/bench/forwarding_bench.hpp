// SPDX-License-Identifier: Apache-2.0
// How fast one polling core forwards on the wall clock: packets from a pcap file (net_pcap's endless
// replay from memory) through 1 or 3 switches with everything switched on, out to 8 devices that
// take all. A packet through one switch is one packet-hop.
//
//   net_pcap → edge → [tor] ───────────────────────→ 8 × edge → net_null
//   net_pcap → edge → [tor] ═ 8 ═ [aggregation × 8] ═ [tor] → edge → net_null
#pragma once

#include <cstdint>
#include <string>

namespace softspine::tools {

struct ForwardingBench {
  std::string pcap;
  uint32_t frame_bytes = 60;  // without FCS
  uint32_t hops = 1;          // 1 or 3
  double seconds = 2;         // wall time, after a warm-up of a quarter of it
  bool lossless = false;      // shared buffer, PFC, marks, DWRR: all of lossless_plan.hpp
};

struct ForwardingResult {
  double packets_per_second = 0;  // that left the fabric
  double packet_hops_per_second = 0;
  double cycles_per_packet_hop = 0;  // TSC cycles that the core really spent on it
  double cpu_share = 0;              // of the core: below 1 when someone else ran on it
  uint64_t checksum = 0;             // of which packet left where: the same for the same input and count
  uint64_t packets = 0;
  uint64_t drops = 0;
};

// One switch, lossless, that gets nothing but the frames of that file, malformed pauses (pause_flood.hpp): frames taken
// a second. `drops` are those that were forwarded: none should.
ForwardingResult run_flood_bench(const std::string& pcap, double seconds);

ForwardingResult run_forwarding_bench(const ForwardingBench& bench);

}  // namespace softspine::tools
