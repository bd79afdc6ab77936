// SPDX-License-Identifier: Apache-2.0
// What every scenario program has: DPDK's environment layer, started once before the first test,
// and one packet pool that must be full again after each.
#pragma once

#include "dataplane/packet/pool.hpp"

namespace softspine::tests {

inline constexpr uint32_t kScenarioPackets = 32768;
inline constexpr uint32_t kScenarioRoomBytes = 2048;

// The program's pool. After each test its packets are counted: one that is missing fails the test.
dataplane::PacketPool& packet_pool();

}  // namespace softspine::tests
