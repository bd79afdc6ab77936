// SPDX-License-Identifier: Apache-2.0
// The flows of captures, as they would come to the testbed's fabric.
//
// A flow is a set of addresses, ports, protocol and QP; its bytes are those of its packets on the wire, also where the
// capture was sliced. Only the bytes of its frame that a hash can reach are kept; how it comes to the fabric is in
// entering_frames.hpp.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "analysis/explain/flow_choices.hpp"

namespace softspine::analysis {

struct CapturedFlows {
  std::vector<FlowProbe> flows;
  uint64_t packets = 0;
  uint64_t without_ip = 0;            // ARP, LLDP, PFC; faulty headers; and frames that were cut before their addresses
  uint64_t cut_before_ports = 0;      // UDP and TCP
  uint64_t cut_before_qp = 0;         // RoCEv2 without a BTH: flows all the same
  uint64_t oversize = 0;              // longer than a link of the fabric takes, and followed all the same
  uint64_t beyond_limit = 0;          // of further flows than are kept
  uint64_t unknown_sources = 0;       // packets whose source address no host has
  uint64_t unknown_destinations = 0;  // flows: no host has the address, and no route leads there
};

// `from`: "" for the hosts that have the source addresses; a host; or SWITCH:PORT, by which all packets come in.
std::expected<CapturedFlows, std::string> captured_flows(Walker& walker, const std::vector<std::string>& files,
                                                         const std::string& from);

// A message for a person about the packets that became no flow; empty if there are none.
std::string left_out_text(const CapturedFlows& captured);

}  // namespace softspine::analysis
