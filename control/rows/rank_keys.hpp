// SPDX-License-Identifier: Apache-2.0
// What collectives and trainings have alike: their ranks, and NCCL's settings of what these send.
#pragma once

#include <optional>
#include <string>

#include "control/format/format.hpp"
#include "control/model/collective_run.hpp"
#include "control/model/workload.hpp"

namespace softspine::control {

struct RankKeys {
  Value where;
  std::string name;
  std::optional<OneOrMore<std::string>> ranks;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kAuto;
  CollectiveProtocol protocol = CollectiveProtocol::kAuto;
  uint32_t iterations = CollectiveRun{}.iterations;
  uint32_t channels = CollectiveShape{}.channels;
  uint32_t qps = Workload{}.qps;
  std::optional<Scaling> scaling;
  PortChoice ports = Workload{}.ports;
  bool pxn = CollectiveShape{}.pxn;
  Admission admission = Admission::kReceiver;
  std::optional<uint8_t> clear_dscp;
  std::optional<dataplane::Rate> reduce_rate;
  dataplane::Duration post_cost;
  dataplane::Duration start;
  uint32_t mtu = Workload{}.mtu;
  std::optional<uint8_t> dscp;
  ReliableParameters reliable;
};

}  // namespace softspine::control
