// SPDX-License-Identifier: Apache-2.0
// Whether a plan ends.
//
// A loop of it is executed with counts alone. Each connection holds so many messages. What a block does next depends on
// nothing but counts that grow, so the order in which blocks are looked at decides nothing; and a loop that ends leaves
// all connections empty, so all loops end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "control/model/collective_plan.hpp"

namespace softspine::control {

// The blocks of the steps of one loop, each behind what it waits for and its block's step before it, and else in turns.
// Shorter than there are steps: the others wait for each other.
std::vector<uint32_t> order_of_steps(const PlanRank& rank);

struct PlanMessages {
  uint64_t slots = UINT64_MAX;  // of a connection
  std::function<uint32_t(const PlanStep&)> of_step = [](const PlanStep&) { return 1U; };
};

// Empty: it ends. Else where it stands still, in words. Each send has its receive.
std::string where_it_stops(const CollectivePlan& plan, const PlanMessages& messages);

}  // namespace softspine::control
