// SPDX-License-Identifier: Apache-2.0
// Which flows to send next to identify a switch's hash.
//
//   nothing observed   flows that differ from one flow in one part only (they show which parts count, however the hash
//                      computes), then random ones
//   several classes    flows that most of the classes send by different links
//   one class          flows of the members that no flow has met yet, so that all links are known
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/identify/identification.hpp"

namespace softspine::analysis {

// Where probes may come from and go to.
struct AddressRange {
  Flow::Address base{10};
  uint32_t prefix_bits = 8;
};
struct ProbeRanges {
  AddressRange sources;
  AddressRange destinations;
};

// UDP, TCP and RoCEv2 over IPv4; the same for the same seed.
std::vector<Flow> first_probes(size_t count, const ProbeRanges& ranges, uint64_t seed);

// The longest prefixes that all observed flows of the version that more of them have share.
ProbeRanges observed_ranges(const Observations& observations);

// Random flows of the observations' kind, chosen by what they would decide.
std::vector<Flow> next_probes(const Observations& observations, const Identification& found, const ProbeRanges& ranges,
                              size_t count);

// The flow as arguments of a traffic generator: iperf3 on the sender. Empty if it has none for such flows.
std::string iperf3_line(const Flow& flow);
// Likewise, of RoCEv2 from a source port that adapters use, 49152 and above. perftest sets no queue pair; the source
// port follows from the flow label, where the adapter's driver makes it as the kernel's rdma_get_udp_sport() does.
std::string ib_write_bw_line(const Flow& flow);

}  // namespace softspine::analysis
