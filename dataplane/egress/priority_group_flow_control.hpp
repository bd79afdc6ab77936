// SPDX-License-Identifier: Apache-2.0
// Connects a switch's priority groups and queues with the flow control of its ports: flow control knows priorities,
// the buffer knows groups, the scheduler knows queues; the plan maps them.
//
//   a group that enters its headroom    raises XOFF for the priorities that its port puts there, if the port sends
//                                       PFC for them and the watchdog has not overruled it
//   a group that has drained            clears it
//   a group that holds more or less     tells the port's credit, on a link that goes by credit
//   a priority that is blocked          blocks the queues that the plan gives to it
// What returns bool says whether the port may owe its neighbour a frame now. No packet is seen here.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/buffer/mmu.hpp"
#include "dataplane/egress/qos_plan.hpp"
#include "dataplane/flow_control/port_flow_control.hpp"

namespace softspine::dataplane {

class PriorityGroupFlowControl {
 public:
  // `mmu` outlives it.
  PriorityGroupFlowControl(uint32_t ports, const Mmu& mmu) : ports_(ports), mmu_(mmu) {}

  // Between windows, after the MMU has its plan. `plan` is there until the next. XOFFs of priorities that are no
  // longer enabled are cleared.
  void apply(const QosPlan& plan, Instant now) noexcept;

  PortFlowControl& port(uint32_t number) { return ports_[number]; }
  const PortFlowControl& port(uint32_t number) const { return ports_[number]; }
  // Whether any link goes by credit.
  bool uses_credit() const { return uses_credit_; }

  uint8_t blocked_queues(uint32_t number) const noexcept;
  // A frame of the queue has begun to leave.
  void charge(uint32_t number, uint8_t queue, uint32_t frame_bytes, Instant at) noexcept;

  // Pauses of exactly these priorities are ignored, and their XOFF is cleared. A group that is in its headroom raises
  // it for those that no longer are.
  void ignore(uint32_t number, uint8_t priorities, Instant now) noexcept;

  // By Mmu::number_of_pg().
  bool raise_xoff(uint32_t group, Instant now) noexcept;
  bool clear_xoff(uint32_t group, Instant now) noexcept;
  // Each frame that came in on a link that goes by credit, after it was enqueued or has ended.
  bool took_in(uint32_t number, uint8_t group, uint32_t frame_bytes, Instant now) noexcept;

 private:
  uint8_t pfc_priorities(uint32_t number, uint32_t group) const noexcept;
  CreditPlan credit_plan(uint32_t number) const noexcept;
  bool update_credit(uint32_t number, uint32_t group, Instant now) noexcept;

  std::vector<PortFlowControl> ports_;
  const Mmu& mmu_;
  const QosPlan* plan_ = nullptr;
  bool uses_credit_ = false;
};

}  // namespace softspine::dataplane
