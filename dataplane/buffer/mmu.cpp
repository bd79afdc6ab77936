// SPDX-License-Identifier: Apache-2.0
#include "dataplane/buffer/mmu.hpp"

#include <algorithm>

#include "dataplane/buffer/rare_steps.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

namespace {

// One goes by credit, or what it holds is not as this plan would have charged it: more than the reserved cells,
// shared ones although reserved ones are left, or headroom.
bool wants_each_release(const std::vector<PriorityGroupUse>& groups, const std::vector<QueueUse>& queues) noexcept {
  const auto is_of_last_plan = [](const auto& use) {
    return use.reserved_left < 0 || (use.reserved_left > 0 && use.shared != 0);
  };
  const auto is_special = [&](const PriorityGroupUse& group) {
    return group.credited || group.headroom != 0 || is_of_last_plan(group);
  };
  return std::ranges::any_of(groups, is_special) || std::ranges::any_of(queues, is_of_last_plan);
}

std::vector<PoolUse> pools_of(const std::vector<PoolPlan>& plans, const std::vector<PoolUse>& before) {
  std::vector<PoolUse> pools(plans.size());
  for (size_t i = 0; i < plans.size(); ++i) {
    pools[i].shared_limit = plans[i].shared_cells;
    pools[i].headroom_limit = plans[i].headroom_cells;
    pools[i].free = pools[i].least_free = static_cast<int32_t>(plans[i].shared_cells);
    if (i >= before.size()) continue;
    pools[i].headroom_watermark = before[i].headroom_watermark;
    pools[i].least_free -= static_cast<int32_t>(before[i].watermark());
  }
  return pools;
}

}  // namespace

Mmu::Mmu(uint32_t ports)
    : ports_(ports),
      groups_(size_t{ports + 1} * kPriorities),
      queues_(size_t{ports + 1} * kQueues),
      extremes_(groups_.size()),
      ingress_(1),
      egress_(1) {
  for (PriorityGroupUse& group : groups_) group.pool = ingress_.data();
  for (QueueUse& queue : queues_) queue.pool = egress_.data();
}

uint32_t Mmu::refuse(DropReason reason) noexcept {
  refused_for_ = reason;
  return 0;
}

template <typename Use>
void Mmu::charge(Use& use, PortUse* port, uint32_t own, uint32_t shared) noexcept {
  if (own != 0) charge_own(use, own);
  if (shared == 0) return;
  charge_shared(use, shared);
  note_watermarks(use);
  charge_port(port, shared);
}

uint32_t Mmu::admit(const Account& account, uint32_t frame_bytes) noexcept {
  PriorityGroupUse& group = groups_[account.group];
  QueueUse& queue = queue_of(group, account.queue);
  const uint32_t cells = cell_.cells_of(frame_bytes);
  const uint32_t own = own_part(queue, cells);
  PortUse* const port = port_use_of(queue);
  if (own < cells && !(fits(queue, cells - own) && fits_port(port, cells - own))) {
    return refuse(queue.shut ? DropReason::kPfcWatchdog : DropReason::kQueueFull);
  }
  if (!charge_group(group, cells)) {
    ++extremes_of(group).counters.dropped_packets;
    if (group.shut) return refuse(DropReason::kPfcWatchdogIngress);
    return refuse(group.lossless ? DropReason::kHeadroomFull : DropReason::kIngressFull);
  }
  charge(queue, port, own, cells - own);
  ++group.packets;
  return cells;
}

// Returns whether the group has room, and notes the change that its neighbour has to get.
bool Mmu::charge_group(PriorityGroupUse& group, uint32_t cells) noexcept {
  PortUse* const port = port_use_of(group);
  const uint32_t own = own_part(group, cells);
  const uint32_t rest = cells - own;
  bool is_full = false;
  if (rest == 0 || ((fits(group, rest) || may_cross_limit(group, rest)) && fits_port(port, rest))) {
    charge(group, port, own, rest);
    is_full = rest != 0 && group.lossless && (has_reached_limit(group) || !fits_port(port, 1));
  } else if (has_headroom(group, cells)) {
    group.headroom += cells;
    group.pool->headroom += cells;
    raise_watermark(extremes_of(group).headroom_watermark, group.headroom);
    raise_watermark(group.pool->headroom_watermark, group.pool->headroom);
    is_full = true;
  } else {
    return false;
  }
  if (is_full) {
    must_raise_xoff_ = !group.xoff;
    set_xoff(group, true);
  }
  return true;
}

PortUse* Mmu::port_use_of(const PriorityGroupUse& group) noexcept {
  if (ingress_ports_.empty()) return nullptr;
  const auto port = static_cast<size_t>(&group - groups_.data()) / kPriorities;
  PortUse& use = ingress_ports_[port * ingress_.size() + of_pool(group)];
  return use.pool == nullptr ? nullptr : &use;
}
PortUse* Mmu::port_use_of(const QueueUse& queue) noexcept {
  if (egress_ports_.empty()) return nullptr;
  const auto port = static_cast<size_t>(&queue - queues_.data()) / kQueues % (ports_ + 1);
  PortUse& use = egress_ports_[port * egress_.size() + of_pool(queue)];
  return use.pool == nullptr ? nullptr : &use;
}

bool Mmu::release_otherwise(PriorityGroupUse& group, QueueUse& queue, uint32_t cells) noexcept {
  release_cells(queue, port_use_of(queue), cells);
  release_cells(group, port_use_of(group), cells - out_of_headroom(group, cells));
  const bool may_go = group.xoff && may_clear_xoff(group);
  return may_go || group.credited;
}

bool Mmu::may_clear_xoff(PriorityGroupUse& group) noexcept {
  if (group.headroom != 0) return false;
  const int64_t below = group.reserved_limit + group.limit.of(group.pool->to_give()) - group.xon_offset;
  if (int64_t{group.reserved() + group.shared} > std::max<int64_t>(group.xon, below)) return false;
  set_xoff(group, false);
  return true;
}

void Mmu::apply(const BufferPlan& plan) {
  SOFTSPINE_CHECK(plan.ports.size() == ports_ + 1, plan.ports.size(), ports_ + 1);
  SOFTSPINE_CHECK(!planned_ || plan.cell == cell_, plan.cell.bytes(), cell_.bytes());
  cell_ = plan.cell;
  plan_slices(plan);
  planned_ = true;
  ingress_ = pools_of(plan.ingress_pools, ingress_);
  egress_ = pools_of(plan.egress_pools, egress_);
  for (uint32_t port = 0; port <= ports_; ++port) {
    for (uint32_t i = 0; i < kPriorities; ++i) {
      PriorityGroupUse& group = group_of(port, i);
      plan_group(group, plan.ports[port].groups[i]);
      group.pool->reserved += group.reserved();
      group.pool->free -= static_cast<int32_t>(group.shared);
      group.pool->headroom += group.headroom;
    }
    for (uint32_t i = 0; i < slices_ * kQueues; ++i) {
      QueueUse& queue = queue_of(port, i % kQueues, i / kQueues);
      plan_queue(queue, plan.ports[port].queues[i % kQueues], i / kQueues);
      queue.pool->reserved += queue.reserved();
      queue.pool->free -= static_cast<int32_t>(queue.shared);
    }
  }
  plan_port_limits(plan);
  is_planned_exact_ = wants_each_release(groups_, queues_);
}

void Mmu::plan_slices(const BufferPlan& plan) {
  SOFTSPINE_CHECK(!planned_ || plan.slices == slices_, plan.slices, slices_);
  slices_ = plan.slices;
  if (!planned_) queues_.assign(size_t{slices_} * queues_of_slice(), {});
  for (uint32_t i = 0; i < groups_.size(); ++i) {
    const uint8_t slice = plan.ports[i / kPriorities].slice;
    SOFTSPINE_CHECK(slice < slices_, slice, slices_);
    SOFTSPINE_CHECK(!planned_ || groups_[i].slice == slice, i, slice);
    groups_[i].slice = slice;
  }
}

void Mmu::plan_port_limits(const BufferPlan& plan) {
  const auto has = [&](auto PortBufferPlan::* limits) {
    return std::ranges::any_of(plan.ports, [&](const PortBufferPlan& port) { return !(port.*limits).empty(); });
  };
  const bool ingress = has(&PortBufferPlan::ingress_limits);
  const bool egress = has(&PortBufferPlan::egress_limits);
  has_port_limits_ = ingress || egress;
  ingress_ports_.assign(ingress ? plan.ports.size() * ingress_.size() : 0, {});
  egress_ports_.assign(egress ? plan.ports.size() * egress_.size() : 0, {});
  for (size_t port = 0; port < plan.ports.size(); ++port) {
    for (const auto& [pool, limit] : plan.ports[port].ingress_limits)
      ingress_ports_.at(port * ingress_.size() + pool) = {&ingress_[pool], 0, limit};
    for (const auto& [pool, limit] : plan.ports[port].egress_limits)
      egress_ports_.at(port * egress_.size() + pool) = {&egress_[pool], 0, limit};
  }
  for (const PriorityGroupUse& group : groups_) charge_port(port_use_of(group), group.shared);
  for (const QueueUse& queue : queues_) charge_port(port_use_of(queue), queue.shared);
}

void Mmu::plan_group(PriorityGroupUse& group, const PriorityGroupPlan& wanted) {
  SOFTSPINE_CHECK(wanted.pool < ingress_.size(), wanted.pool, ingress_.size());
  const uint32_t reserved = group.reserved();
  group.pool = &ingress_[wanted.pool];
  group.limit = group.shut ? SharedLimit{} : wanted.limit;
  group.reserved_limit = group.shut ? 0 : wanted.reserved_cells;
  group.reserved_left = static_cast<int32_t>(group.reserved_limit - reserved);
  group.headroom_limit = wanted.headroom_cells;
  group.xon = wanted.xon_cells;
  group.xon_offset = wanted.xon_offset_cells;
  group.lossless = wanted.lossless;
  group.credited = wanted.credited;
  set_xoff(group, group.xoff);
}

void Mmu::plan_queue(QueueUse& queue, const QueuePlan& wanted, uint32_t slice) {
  SOFTSPINE_CHECK(wanted.pool + slice < egress_.size(), wanted.pool, egress_.size());
  const uint32_t reserved = queue.reserved();
  queue.pool = &egress_[wanted.pool + slice];
  queue.limit = queue.shut ? SharedLimit{} : wanted.limit;
  queue.reserved_limit = queue.shut ? 0 : wanted.reserved_cells;
  queue.reserved_left = static_cast<int32_t>(queue.reserved_limit - reserved);
}

void Mmu::set_pg(uint32_t port, uint32_t index, const PriorityGroupPlan& plan, bool shut) noexcept {
  group_of(port, index).shut = shut;
  plan_group(group_of(port, index), plan);
  is_planned_exact_ = wants_each_release(groups_, queues_);
}

void Mmu::set_queue(uint32_t port, uint32_t index, const QueuePlan& plan, bool shut) noexcept {
  for (uint32_t slice = 0; slice < slices_; ++slice) {
    queue_of(port, index, slice).shut = shut;
    plan_queue(queue_of(port, index, slice), plan, slice);
  }
  is_planned_exact_ = wants_each_release(groups_, queues_);
}

bool Mmu::reconsider_xoff(uint16_t port, uint8_t index) noexcept {
  PriorityGroupUse& group = group_of(port, index);
  if (!group.xoff) return false;
  if (group.lossless) return may_clear_xoff(group);
  set_xoff(group, false);
  return true;
}

void Mmu::clear_watermarks() noexcept {
  for (PriorityGroupUse& group : groups_) {
    group.shared_watermark = group.shared;
    extremes_of(group).headroom_watermark = group.headroom;
  }
  for (QueueUse& queue : queues_) queue.shared_watermark = queue.shared;
  for (auto* pools : {&ingress_, &egress_}) {
    for (PoolUse& pool : *pools) {
      pool.least_free = pool.free;
      pool.headroom_watermark = pool.headroom;
    }
  }
}

namespace {

struct Sum {
  uint64_t reserved = 0, shared = 0, headroom = 0;

  bool is_of(const PoolUse& pool) const {
    return reserved == pool.reserved && shared == pool.shared() && headroom == pool.headroom;
  }
};

uint64_t total_of(const std::vector<Sum>& sums) {
  uint64_t total = 0;
  for (const Sum& sum : sums) total += sum.reserved + sum.shared + sum.headroom;
  return total;
}

}  // namespace

const char* Mmu::validate(bool empty) const noexcept {
  std::vector<Sum> in(ingress_.size());
  std::vector<Sum> out(egress_.size());
  std::vector<uint64_t> in_ports((ports_ + 1) * ingress_.size());
  std::vector<uint64_t> out_ports((ports_ + 1) * egress_.size());
  for (size_t i = 0; i < groups_.size(); ++i) {
    const PriorityGroupUse& group = groups_[i];
    Sum& sum = in[of_pool(group)];
    sum.reserved += group.reserved();
    sum.shared += group.shared;
    sum.headroom += group.headroom;
    in_ports[i / kPriorities * ingress_.size() + of_pool(group)] += group.shared;
    if (empty && group.held() != 0) return "cells are held by a priority group though no packet is";
    if (empty && group.xoff) return "a priority group still asks to stop though it holds nothing";
  }
  for (size_t i = 0; i < queues_.size(); ++i) {
    const QueueUse& queue = queues_[i];
    out[of_pool(queue)].reserved += queue.reserved();
    out[of_pool(queue)].shared += queue.shared;
    out_ports[i / kQueues % (ports_ + 1) * egress_.size() + of_pool(queue)] += queue.shared;
    if (empty && queue.held() != 0) return "cells are held by a queue though no packet is";
  }
  const auto is_of = [](const Sum& sum, const PoolUse& pool) { return sum.is_of(pool); };
  const auto is_of_port = [](const PortUse& use, uint64_t sum) { return use.pool == nullptr || use.shared == sum; };
  if (!std::ranges::equal(in, ingress_, is_of)) return "an ingress pool's use is not the sum of its priority groups'";
  if (!std::ranges::equal(out, egress_, is_of)) return "an egress pool's use is not the sum of its queues'";
  if (!ingress_ports_.empty() && !std::ranges::equal(ingress_ports_, in_ports, is_of_port))
    return "a port's use of an ingress pool is not the sum of its priority groups'";
  if (!egress_ports_.empty() && !std::ranges::equal(egress_ports_, out_ports, is_of_port))
    return "a port's use of an egress pool is not the sum of its queues'";
  return total_of(in) == total_of(out) ? "" : "cells charged at ingress are not those charged at egress";
}

}  // namespace softspine::dataplane
