// SPDX-License-Identifier: Apache-2.0
#include "dataplane/egress/priority_group_flow_control.hpp"

#include <algorithm>
#include <bit>

namespace softspine::dataplane {

void PriorityGroupFlowControl::apply(const QosPlan& plan, Instant now) noexcept {
  plan_ = &plan;
  uses_credit_ = std::ranges::any_of(plan.ports, [](const PortQosPlan& port) { return port.credit_enabled != 0; });
  for (uint32_t i = 0; i < ports_.size(); ++i) {
    const PortQosPlan& port = plan.ports[i];
    ports_[i].plan({.link = port.link, .pfc_enabled = port.pfc_enabled, .credit = credit_plan(i)}, now);
    set_xoff(i, now);
  }
}

void PriorityGroupFlowControl::set_xoff(uint32_t number, Instant now) noexcept {
  uint8_t wanted = 0;
  for (uint32_t g = 0; g < kPriorities; ++g) {
    if (mmu_.pg(number, g).xoff) wanted |= pfc_priorities(number, g);
  }
  ports_[number].set_xoff(wanted, now);
}

CreditPlan PriorityGroupFlowControl::credit_plan(uint32_t number) const noexcept {
  const PortQosPlan& port = plan_->ports[number];
  CreditPlan plan{.priorities = port.credit_enabled, .largest_frame = port.largest_frame, .cell = mmu_.cell()};
  for (uint32_t g = 0; g < kPriorities; ++g) {
    const uint32_t room = std::min(plan_->buffer.ports[number].groups[g].headroom_cells, CreditLink::kRoomLimit);
    for (uint32_t p = 0; p < kPriorities; ++p) {
      if ((port.priorities_of_pg[g] >> p & 1) != 0) plan.room[p] = static_cast<uint16_t>(room);
    }
  }
  return plan;
}

uint8_t PriorityGroupFlowControl::blocked_queues(uint32_t number) const noexcept {
  uint8_t queues = 0;
  for (unsigned left = ports_[number].blocked(); left != 0; left &= left - 1) {
    queues |= plan_->ports[number].queues_of_priority[static_cast<size_t>(std::countr_zero(left))];
  }
  return queues;
}

void PriorityGroupFlowControl::charge(uint32_t number, uint8_t queue, uint32_t frame_bytes, Instant at) noexcept {
  if (!ports_[number].goes_by_credit()) return;
  for (uint8_t p = 0; p < kPriorities; ++p) {
    if ((plan_->ports[number].queues_of_priority[p] >> queue & 1) != 0) ports_[number].sent(p, frame_bytes, at);
  }
}

void PriorityGroupFlowControl::leaves(uint32_t number, uint8_t queue, Instant left) noexcept {
  uint8_t priorities = 0;
  for (uint8_t p = 0; p < kPriorities; ++p) {
    const bool is_its = (plan_->ports[number].queues_of_priority[p] >> queue & 1) != 0;
    priorities |= static_cast<uint8_t>(unsigned{is_its} << p);
  }
  ports_[number].leaves(priorities, left);
}

uint8_t PriorityGroupFlowControl::pfc_priorities(uint32_t number, uint32_t group) const noexcept {
  if (number >= ports_.size()) return 0;
  const PortQosPlan& plan = plan_->ports[number];
  return static_cast<uint8_t>(plan.priorities_of_pg[group] & plan.pfc_enabled & ~ports_[number].ignored());
}

void PriorityGroupFlowControl::ignore(uint32_t number, uint8_t priorities, Instant now) noexcept {
  ports_[number].ignore(priorities, now);
  set_xoff(number, now);
}

bool PriorityGroupFlowControl::raise_xoff(uint32_t group, Instant now) noexcept {
  const uint32_t number = group / kPriorities;
  const uint8_t priorities = pfc_priorities(number, group % kPriorities);
  if (priorities != 0) ports_[number].raise_xoff(priorities, now);
  return priorities != 0;
}

bool PriorityGroupFlowControl::clear_xoff(uint32_t group, Instant now) noexcept {
  const uint32_t number = group / kPriorities;
  const bool owes = uses_credit_ && number < ports_.size() && update_credit(number, group % kPriorities, now);
  const uint8_t priorities = pfc_priorities(number, group % kPriorities);
  if (priorities != 0) ports_[number].clear_xoff(priorities, now);
  return owes || priorities != 0;
}

bool PriorityGroupFlowControl::count_received(uint32_t number, uint8_t group, uint32_t frame_bytes,
                                              Instant now) noexcept {
  if (number >= ports_.size() || !ports_[number].goes_by_credit()) return false;
  const uint8_t priorities = plan_->ports[number].priorities_of_pg[group];
  for (uint8_t p = 0; p < kPriorities; ++p) {
    if ((priorities >> p & 1) != 0) ports_[number].received(p, frame_bytes);
  }
  return update_credit(number, group, now);
}

// A group's use has changed.
bool PriorityGroupFlowControl::update_credit(uint32_t number, uint32_t group, Instant now) noexcept {
  PortFlowControl& port = ports_[number];
  if (!port.goes_by_credit()) return false;
  const bool owed = port.credits().owes_frame();
  for (uint8_t p = 0; p < kPriorities; ++p) {
    const bool is_its = (plan_->ports[number].priorities_of_pg[group] >> p & 1) != 0;
    if (is_its) port.holds(p, mmu_.pg(number, group).held(), now);
  }
  return !owed && port.credits().owes_frame();
}

}  // namespace softspine::dataplane
