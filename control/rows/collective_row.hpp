// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "control/format/format.hpp"
#include "control/model/collective_run.hpp"
#include "control/model/workload.hpp"

namespace softspine::control {

struct CollectiveRow {
  Value where;
  std::string name;
  Collective op = Collective::kAllReduce;
  OneOrMore<Bytes> size;
  std::optional<OneOrMore<std::string>> ranks;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kAuto;
  CollectiveProtocol protocol = CollectiveProtocol::kAuto;
  std::optional<std::string> plan;
  std::shared_ptr<const CollectivePlan> planned;  // read from it
  uint32_t iterations = CollectiveRun{}.iterations;
  std::optional<uint32_t> root;
  uint32_t channels = CollectiveShape{}.channels;
  uint32_t qps = Workload{}.qps;
  std::optional<Scaling> scaling;
  Admission admission = Admission::kReceiver;
  std::optional<uint8_t> clear_dscp;
  dataplane::Duration compute;
  std::optional<dataplane::Rate> reduce_rate;
  dataplane::Duration post_cost;
  dataplane::Duration start;
  uint32_t mtu = Workload{}.mtu;
  std::optional<uint8_t> dscp;
  ReliableParameters reliable;
};

}  // namespace softspine::control
