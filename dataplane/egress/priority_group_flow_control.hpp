// SPDX-License-Identifier: Apache-2.0
// Connects a switch's priority groups and queues with the flow control of its ports. Flow control knows priorities, the
// buffer knows priority groups, the scheduler knows queues; the plan maps them to each other. A group here is a
// priority group.
//
//   a group reaches its limit           XOFF is raised for the priorities that the plan puts into the group, if
//                                       the port sends PFC for them and no watchdog has overruled that
//   a group has drained                 this XOFF is cleared
//   a group holds more or fewer cells   the port's credit is updated, on a link with credit-based flow control
//   a priority is blocked               so are the queues that the plan gives to it
// A function that returns bool returns whether the port may owe its neighbour a frame now. No packet is seen here.
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

  // Between windows, after the MMU has its plan. `plan` must stay valid until the next call. Afterwards XOFF is raised
  // for exactly the priorities whose group has raised it by the new plan: while groups were full, pauses may have been
  // enabled, or priorities moved to another group.
  void apply(const QosPlan& plan, Instant now) noexcept;

  PortFlowControl& port(uint32_t number) { return ports_[number]; }
  const PortFlowControl& port(uint32_t number) const { return ports_[number]; }
  // Whether any link uses credit-based flow control.
  bool uses_credit() const { return uses_credit_; }

  uint8_t blocked_queues(uint32_t number) const noexcept;
  // A frame of the queue has begun to leave: it has used credit.
  void charge(uint32_t number, uint8_t queue, uint32_t frame_bytes, Instant at) noexcept;
  // One of the queue is on the wire until `left`.
  void leaves(uint32_t number, uint8_t queue, Instant left) noexcept;

  // Pauses of exactly these priorities are ignored, and their XOFF is cleared. For priorities that are no longer
  // ignored XOFF is raised again if their group is in its headroom.
  void ignore(uint32_t number, uint8_t priorities, Instant now) noexcept;

  // `group`: by Mmu::number_of_pg().
  bool raise_xoff(uint32_t group, Instant now) noexcept;
  bool clear_xoff(uint32_t group, Instant now) noexcept;
  // To be called for each frame that came in on a link that goes by credit, after it was queued or dropped.
  bool count_received(uint32_t number, uint8_t group, uint32_t frame_bytes, Instant now) noexcept;

 private:
  uint8_t pfc_priorities(uint32_t number, uint32_t group) const noexcept;
  // Raises XOFF for exactly the priorities of those groups of the port that have raised it, and clears all others.
  void set_xoff(uint32_t number, Instant now) noexcept;
  CreditPlan credit_plan(uint32_t number) const noexcept;
  bool update_credit(uint32_t number, uint32_t group, Instant now) noexcept;

  bool uses_credit_ = false;  // first: behind the timers (egress.hpp), and asked for as often
  std::vector<PortFlowControl> ports_;
  const Mmu& mmu_;
  const QosPlan* plan_ = nullptr;
};

}  // namespace softspine::dataplane
