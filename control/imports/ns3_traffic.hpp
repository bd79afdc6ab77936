// SPDX-License-Identifier: Apache-2.0
// The traffic of HPCC's ns-3 and of SimAI's: their flow file and their config file, beside a topology.
//
//   flow file     N, then N lines of SOURCE DESTINATION PRIORITY PORT BYTES START, in seconds
//   config file   lines of KEY VALUES: PACKET_PAYLOAD_SIZE, SIMULATOR_STOP_TIME, CC_MODE and DCQCN's parameters,
//                 ENABLE_QCN, BUFFER_SIZE (MiB), KMIN_MAP, KMAX_MAP (kB by rate), PMAX_MAP
//
// The run begins when the first flow does. A setting without a counterpart here is a note.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/document/reader.hpp"
#include "control/imports/foreign_topology.hpp"

namespace softspine::control {

struct ForeignFlow {
  uint32_t from = 0;  // places among the topology's nodes
  uint32_t to = 0;
  uint8_t priority = 0;
  uint64_t bytes = 0;
  int64_t start_ps = 0;
  Place place;
};

// Marks of the queues of links of one rate.
struct ForeignMarks {
  uint64_t least_bytes = 0;
  uint64_t most_bytes = 0;
  double probability = 0;  // at most_bytes
};

struct ForeignTraffic {
  std::vector<ForeignFlow> flows;
  int64_t first_ps = 0;  // when the first flow begins, by the file's clock
  std::string list;      // the flow file, as the testbed is to name it; empty: the testbed has the flows itself
  uint32_t mtu = 1'024;
  std::optional<int64_t> stop_ps;  // of the run's own clock
  std::string congestion_control;  // in a workload's words; empty: none
  bool marks = true;
  std::optional<uint64_t> buffer_bytes;
  std::map<uint64_t, ForeignMarks> marks_by_bps;
  Errors notes;
};

// Nothing if something is wrong, which is then reported. `config`: may be null.
std::optional<ForeignTraffic> read_ns3_traffic(Reader& reader, const ForeignTopology& topology, const ImportFile& flows,
                                               const ImportFile* config);

}  // namespace softspine::control
