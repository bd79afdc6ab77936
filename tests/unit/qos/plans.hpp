// SPDX-License-Identifier: Apache-2.0
// The plan of a switch of a testbed's text.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>

#include "control/compile/switch_qos.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::tests {

struct Planned {
  control::Testbed testbed;
  std::shared_ptr<const dataplane::QosPlan> plan;

  const dataplane::PriorityGroupPlan& group(size_t port, size_t group) const {
    return plan->buffer.ports.at(port).groups[group];
  }
  const dataplane::QueuePlan& queue(size_t port, size_t queue) const {
    return plan->buffer.ports.at(port).queues[queue];
  }
};

inline Planned plan_of(std::string_view text, std::string_view node = "tor1") {
  Planned out{.testbed = read_well(text), .plan = nullptr};
  const auto& nodes = out.testbed.fabric.nodes;
  const auto found = std::ranges::find(nodes, node, &control::FabricNode::name);
  if (found == nodes.end()) return out;
  const control::Profile& profile = out.testbed.profiles[found->profile];
  const auto shapes =
      control::port_shapes(out.testbed.fabric, out.testbed.profiles, static_cast<uint32_t>(found - nodes.begin()));
  if (profile.qos) out.plan = control::compile_qos(profile, shapes);
  return out;
}

}  // namespace softspine::tests
