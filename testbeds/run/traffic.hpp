// SPDX-License-Identifier: Apache-2.0
// From the testbed's workloads to flows and sinks at its built-in hosts.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "testbeds/run/assembly.hpp"
#include "testbeds/run/disjoint_ports.hpp"

namespace softspine::testbeds {

// The flows of the testbed's workloads, without a fabric to run them. `shared`: where disjoint ports were not found.
std::vector<PlannedFlow> plan_traffic(const control::Testbed& testbed, std::vector<SharedPaths>* shared = nullptr);

// Called before the first window. The error is sentences for a person.
std::expected<void, std::string> add_traffic(const control::Testbed& testbed, Assembly& assembly);

// A built-in host as far as it decides which port a flow leaves by (bond_hash.hpp). `gateway`: its packets' next hop.
HostConfig bonded_host(const control::Fabric& fabric, uint32_t node, const dataplane::MacAddress& gateway);

// The IPv4 address of a node of the fabric, as hosts know it.
inline Ipv4Address ipv4_of(const control::FabricNode& node) {
  return node.ipv4.value;
}

}  // namespace softspine::testbeds
