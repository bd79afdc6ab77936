// SPDX-License-Identifier: Apache-2.0
// A Perfetto trace, read back by protobuf's own parser over a table of the published fields, and put together by the
// rules that Perfetto's trace_processor has: packets by time, at one time in the file's order; an end ends what its
// track began last; strings by their numbers in packets before; a flow leads from its earliest slice on.
// What breaks a rule is a finding.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "control/model/fabric.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::testbeds {

struct TraceSlice {
  std::string track;  // with all above it: tor1/tor1:Ethernet0/priority 3 paused
  std::string category;
  std::string name;
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;  // of an instant as from_ns
  std::map<std::string, std::string> arguments;
  std::vector<uint64_t> flows;

  uint64_t number(const std::string& key) const { return std::stoull(arguments.at(key)); }
};

struct ReadTrace {
  std::vector<TraceSlice> slices;                                              // by their begins
  std::vector<TraceSlice> instants;                                            // by time
  std::map<std::string, std::vector<std::pair<uint64_t, uint64_t>>> counters;  // by track: time, value
  bool is_cut = false;                                                         // its last packet is not whole
  size_t packets = 0;
  std::vector<std::string> findings;
};

ReadTrace read_trace(std::string_view bytes);

// By "port/priority": the sums of slices' duration_ps.
std::map<std::string, uint64_t> pauses_in(const ReadTrace& trace, const std::string& category);
// The same of a snapshot: time stood still, or for which the port asked its neighbour to pause; none of zero.
std::map<std::string, uint64_t> pauses_in(const control::FabricSnapshot& snapshot, const std::string& category);

// Everything that has to hold of any run's trace: sums of pauses, counts of events, drops and marks, last occupancies;
// each arrow leads from who asked to who stood still.
std::vector<std::string> differences(const ReadTrace& trace, const control::FabricSnapshot& snapshot,
                                     const control::Fabric& fabric);
// The same of the last levels of pools whose names have _pool in them.
std::vector<std::string> pool_differences(const ReadTrace& trace, const control::FabricSnapshot& snapshot);

}  // namespace softspine::testbeds
