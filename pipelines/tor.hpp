// SPDX-License-Identifier: Apache-2.0
// Top of rack: hosts in VLANs below, the fabric above. Bridges inside a VLAN, is the gateway of its
// subnets, routes the rest.
//
//   parse → classify → bridge ─┬─ same VLAN ──────────────────────────────→ tag ─→ egress
//                              └─ router's MAC → route, hash → link of LAG → rewrite ─→ egress
#pragma once

#include "pipelines/switch.hpp"

namespace softspine::pipelines {

class Tor final : public Switch {
 public:
  using Switch::Switch;
  dataplane::Instant run(dataplane::Instant until) noexcept override {
    return run_with<dataplane::PassPorts::kBridged>(until, [this](dataplane::Burst& burst) {
      dataplane::classify(tables_, burst);
      dataplane::bridge(tables_, burst);
      dataplane::route(tables_, burst);
      dataplane::pick_link(tables_, burst);
      dataplane::rewrite(tables_, burst);
    });
  }
};

}  // namespace softspine::pipelines
