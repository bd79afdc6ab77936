// SPDX-License-Identifier: Apache-2.0
// htsim's topology files (.topo): fat trees and leaf-spines of two or three tiers, by their numbers.
//
//   Nodes 1024            hosts
//   Tiers 3
//   Podsize 64            hosts of a pod
//   Tier 0                the ToRs; then 1, 2
//   Downlink_speed_Gbps 200, Radix_Down 8, Radix_Up 2, Downlink_Latency_ns 1000, Switch_Latency_ns 0, Oversubscribed 4,
//   Bundle 1              links side by side to each switch below
//
// A ToR has Radix_Up / Bundle of the tier above it switches there, each by Bundle links: those of its pod, or all, of
// two tiers. Switch i of a pod's second tier goes to the cores i, i + n, i + 2n … of n such switches a pod. So cores
// are joined in planes, as htsim joins them. Oversubscribed says nothing that the radixes do not, and is checked. A
// latency becomes a cable's length (198,000 km a second). Switch latencies are noted: a switch here has none. Source:
// ultraethernet/uet-htsim.
#pragma once

#include "control/document/reader.hpp"
#include "control/imports/foreign_topology.hpp"

namespace softspine::control {

// False if something is wrong, which is then reported.
bool read_htsim_topology(Reader& reader, const ImportFile& file, ForeignTopology& out);

}  // namespace softspine::control
