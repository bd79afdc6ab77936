// SPDX-License-Identifier: Apache-2.0
// Everything that makes a switch lossless, at once: a shared buffer with groups, queues and headroom, PFC both ways,
// marks and early drops, DWRR. Features that the benches switch on to measure their cost.
#pragma once

#include <memory>

#include "dataplane/egress/qos_plan.hpp"
#include "dataplane/forwarding/forwarding_state.hpp"

namespace softspine::tools {

std::shared_ptr<const dataplane::QosPlan> lossless_plan(uint32_t ports);

// The state with that plan, and with what has `dscp` in priority 3.
void make_lossless(dataplane::ForwardingState& state, uint8_t dscp);

}  // namespace softspine::tools
