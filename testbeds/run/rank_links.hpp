// SPDX-License-Identifier: Apache-2.0
// What ranks talk by: queue pairs over the fabric, and within a server its hosts' scale-up links. Those who run ranks
// ask it for each of their runs, once, when they start.
#pragma once

#include <map>
#include <vector>

#include "control/model/testbed.hpp"
#include "testbeds/hosts/rank_program.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_flows.hpp"
#include "testbeds/run/run_part.hpp"
#include "testbeds/run/scale_up_links.hpp"

namespace softspine::testbeds {

class RankLinks : public RunPart {
 public:
  // All must outlive it.
  RankLinks(const control::Testbed& testbed, const LocalNodes& nodes, const RunFlows& flows);

  void start() override;
  // By rank: how its program sends and receives, without its windows.
  std::vector<RankConfig> configs_of(const control::RankTraffic& traffic);

 private:
  class ConnectionTable;

  void connect_by_fabric(const control::RankTraffic& traffic, ConnectionTable& table) const;
  void connect_by_scale_up(const control::RankTraffic& traffic, ConnectionTable& table);
  ScaleUpPort* scale_up_of(uint32_t node) const;  // null: it is not here
  size_t first_flow_of(uint32_t workload) const;  // it has one

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  const RunFlows& flows_;
  ScaleUpLinks scale_up_;
  std::map<uint32_t, uint32_t> scale_up_sinks_;  // by node: how many its scale-up port has so far
};

}  // namespace softspine::testbeds
