// SPDX-License-Identifier: Apache-2.0
// Observations as text, a flow a line:
//
//   CSV          a first line that names the columns, in any order: src, dst, link; and if there are such columns:
//                proto (tcp, udp or a number; udp), sport, dport (4791 of udp), dest_qp, opcode, flow_label, in_port,
//                vlan. Empty lines and lines that begin with # are passed over.
//   sflowtool -l lines that begin with FLOW: its samples, by output interface; CNTR lines are passed over
//   nfdump       records of IPFIX, NetFlow or sFlow as `nfdump -o csv` prints them, by output interface; those without
//                one, or of a protocol that it has a word for and we have not, are passed over
//   counters     CSV with the columns probe, link, before, after, and a CSV of flows with a column probe: each probe
//                took the link whose counter grew most, if it grew by twice as much as any other
//
// Errors name file and line. At most a million flows.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "analysis/identify/observations.hpp"
#include "control/document/error.hpp"

namespace softspine::analysis {

std::expected<void, control::Errors> read_observations(std::string_view text, const std::string& file,
                                                       ObservationCollector& out);

struct TextFile {
  std::string_view text;
  std::string name;
};
// The number of probes that took no link for sure is returned.
std::expected<size_t, control::Errors> read_counters(const TextFile& counters, const TextFile& probes,
                                                     ObservationCollector& out);

// Flows as CSV that read_counters() takes: probe,src,dst,…
std::string probes_csv(const std::vector<Flow>& flows);

}  // namespace softspine::analysis
