// SPDX-License-Identifier: Apache-2.0
// The flows of captures made at ports, and the ports that each of them left by.
//
// A frame that went out at a port left by it; one that came in left by the port at the other end of the link. Captures
// without the way that a frame went (pcap) are read by the fabric's shape: over a link to something below, a
// packet goes up if its source is down there and its destination is not, and down in the other case.
// A flow is defined by captured_packet.hpp, and beyond that all packets that any switch's hash takes as one: if a UDF
// or the opcode is hashed, packets that differ there are different flows.
#pragma once

#include <cstdint>
#include <expected>
#include <set>
#include <string>
#include <vector>

#include "analysis/explain/comparison.hpp"
#include "analysis/reading/capture_source.hpp"
#include "analysis/reading/progress.hpp"

namespace softspine::analysis {

struct Sightings {
  std::vector<SightedFlow> flows;
  std::set<control::LinkEnd> ports;  // where captures were made
  uint64_t packets = 0;
  uint64_t without_ip = 0;     // ARP, LLDP, PFC; frames that were cut before their addresses, or not Ethernet
  uint64_t without_place = 0;  // of interfaces that are no port of the testbed
  uint64_t without_way = 0;    // nobody knows which way they went
  uint64_t left_out = 0;       // of flows beyond kMaxFlows
  std::set<std::string> unknown_interfaces;  // names
  std::vector<std::string> cut_short;        // sentences on files that break off

  static constexpr size_t kMaxFlows = 4'000'000;
};

struct SightingOptions {
  std::string ports_file;  // as `storm --ports` has it
  std::string from;        // where packets come in whose source address no host has
  ProgressFunction progress = {};
};

std::expected<Sightings, std::string> read_sightings(Walker& walker, const std::vector<CaptureSource>& sources,
                                                     const SightingOptions& options);

// For a person: the packets that became no sighting. Empty if there is none.
std::string left_out_text(const Sightings& sightings);

}  // namespace softspine::analysis
