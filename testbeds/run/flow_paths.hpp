// SPDX-License-Identifier: Apache-2.0
// Where the flows of a run go now: by the tables that its switches have, the states of its links, and the ports by
// which its hosts' bonds send.
//
//   PathTables   copied between two windows: pointers to tables that nobody changes
//   FlowPaths    walks flows over them (analysis/explain/walker.hpp), on another thread than the workers', and keeps
//                each path until one of the tables changes
//
// Where a switch draws (flowlet, spray, RANDOM), every port that it may draw belongs to the path: is_drawn.
// Limits, so that nobody who asks waits: kStepsOfLook switches are asked in one look(), which goes on where the last
// one ended; kMostPorts are kept. of() is null for flows that neither has reached.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/explain/walker.hpp"
#include "control/model/testbed.hpp"
#include "testbeds/run/link_control.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_flows.hpp"

namespace softspine::testbeds {

struct PathTables {
  friend bool operator==(const PathTables&, const PathTables&) = default;

  analysis::Walker::States states;   // by node; null at hosts
  std::vector<bool> up;              // by link
  std::vector<uint16_t> host_ports;  // by flow
};
// From an action, by all ranks at once; rank 0 gets those of the whole fabric, the others none.
PathTables path_tables(const LocalNodes& nodes, LinkControl& links, const RunFlows& flows);

struct FlowPath {
  friend bool operator==(const FlowPath&, const FlowPath&) = default;

  std::vector<control::LinkEnd> ports;  // that send it, in the order of the way: its host's is the first
  bool is_drawn = false;                // each packet takes some of them
  std::string end;                      // "arrives"; else what becomes of it, or of some of its packets
};

class FlowPaths {
 public:
  static constexpr uint32_t kStepsOfLook = 200'000;
  static constexpr size_t kMostPorts = 4'000'000;

  // Both must outlive it.
  FlowPaths(const control::Testbed& testbed, const RunFlows& flows) : testbed_(testbed), flows_(flows) {}

  // `wanted`: flows that have no path yet get theirs in this order, as far as the limits allow. Returns the steps.
  uint32_t look(PathTables tables, std::span<const uint32_t> wanted);
  const FlowPath* of(uint32_t flow) const { return flow < paths_.size() && paths_[flow] ? &*paths_[flow] : nullptr; }

 private:
  struct Place {
    control::LinkEnd from;
    std::vector<uint8_t> frame;
  };
  FlowPath walk(const PlannedFlow& plan, uint16_t host_port);
  void walk_on(const Place& place, std::vector<Place>& next, FlowPath& out);
  dataplane::MacAddress gateway_at(control::LinkEnd end) const;

  const control::Testbed& testbed_;
  const RunFlows& flows_;
  PathTables tables_;
  std::optional<analysis::Walker> walker_;
  dataplane::ScratchPacket scratch_;
  std::vector<std::optional<FlowPath>> paths_;  // by flow
  size_t ports_ = 0;                            // of all paths
  uint32_t steps_ = 0;                          // of this look
};

}  // namespace softspine::testbeds
