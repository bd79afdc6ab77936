// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/host_faults.hpp"

#include <optional>

namespace softspine::testbeds {

using dataplane::Instant;
using dataplane::NodeId;
using dataplane::PortNo;

namespace {

void apply(Assembly& assembly, const control::HostFault& fault, bool begins, Instant now) {
  RoceHost& host = *assembly.hosts[fault.node];
  for (uint16_t port = 0; port < host.config().ports; ++port) {
    if (fault.kind == control::HostFaultKind::kStorm) {
      host.set_storm(PortNo{port}, begins ? fault.priorities : uint8_t{0}, now);
    } else {
      const SlowReceiver slow{.priorities = fault.priorities, .drain = fault.drain};
      host.set_slow_receiver(PortNo{port}, begins ? std::optional(slow) : std::nullopt, now);
    }
  }
  assembly.engine->wake(NodeId{fault.node}, now);
}

}  // namespace

void schedule_host_faults(const control::Testbed& testbed, Assembly& assembly) {
  for (const control::HostFault& fault : testbed.host_faults) {
    assembly.engine->at(fault.at, [&](Instant now) { apply(assembly, fault, true, now); });
    if (fault.until.is_never()) continue;
    assembly.engine->at(fault.until, [&](Instant now) { apply(assembly, fault, false, now); });
  }
}

}  // namespace softspine::testbeds
