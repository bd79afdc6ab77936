// SPDX-License-Identifier: Apache-2.0
// What a recording says before the run: what is run, and on which fabric.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/record/database.hpp"
#include "control/record/sink.hpp"
#include "dataplane/egress/qos_plan.hpp"

namespace softspine::control {

struct RecordedRun {
  std::string version;  // of the program
  std::string text;     // of the testbed's file
  dataplane::Duration interval;
  std::vector<const dataplane::QosPlan*> plans = {};  // by node, at the start; null: no switch
};

// The numbers under which a recording knows ports: nodes in the fabric's order, and their ports in theirs.
class PortNumbers {
 public:
  explicit PortNumbers(const Fabric& fabric);

  uint32_t of(LinkEnd end) const { return first_[end.node] + end.port; }
  uint32_t named(const std::string& name) const { return by_name_.at(name); }

 private:
  std::vector<uint32_t> first_;                        // by node: of its first port
  std::unordered_map<std::string, uint32_t> by_name_;  // tor1:Ethernet0
};

void record_fabric(Database& into, const Testbed& testbed, const RecordedRun& run, const PortNumbers& ports);

}  // namespace softspine::control
