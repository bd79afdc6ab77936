// SPDX-License-Identifier: Apache-2.0
// Source ports of workloads with `ports: disjoint`, as HPN's hosts choose theirs: by the hashes of the fabric itself.
//
// The queue pairs of a connection get their ports one after the other. Each tries ports from the one on that the kernel
// would derive, kPortsTried at most, and takes the first whose path shares no link between switches with those of the
// queue pairs before it. If there is none it takes the one that shares the fewest, the first of several. Paths are
// those with every link up. Where switches draw instead of hashing, a path is all that they draw among. Source: HPN
// (SIGCOMM 2024), section 6.1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/traffic/plan.hpp"

namespace softspine::testbeds {

inline constexpr uint32_t kPortsTried = 512;

// Of a workload: connections with queue pairs whose paths share a link.
struct SharedPaths {
  uint32_t workload = 0;
  uint32_t connections = 0;
  uint32_t of = 0;  // how many it has
};

// Nothing of workloads that choose their ports otherwise. The plan is of all of the testbed's workloads.
std::vector<SharedPaths> choose_disjoint_ports(const control::Testbed& testbed, std::span<control::PlannedFlow> plan);

}  // namespace softspine::testbeds
