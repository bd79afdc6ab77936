// SPDX-License-Identifier: Apache-2.0
// Aggregation (spine, leaf of a pod): joins racks. Routes only and bridges nothing.
//
//   parse → classify → router's MAC? → route, hash → link of LAG → rewrite → egress
#pragma once

#include "pipelines/switch.hpp"

namespace softspine::pipelines {

class Aggregation final : public Switch {
 public:
  using Switch::Switch;
  dataplane::Instant run(dataplane::Instant until) noexcept override {
    return run_with<dataplane::PassPorts::kRouted>(until, [this](dataplane::Burst& burst) {
      dataplane::classify(tables_, burst);
      dataplane::accept_routed(tables_, burst);
      dataplane::route(tables_, burst);
      dataplane::pick_link(tables_, burst);
      dataplane::rewrite(tables_, burst);
    });
  }
};

}  // namespace softspine::pipelines
