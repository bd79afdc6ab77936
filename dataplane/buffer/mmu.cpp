// SPDX-License-Identifier: Apache-2.0
#include "dataplane/buffer/mmu.hpp"

#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

namespace {

template <typename Use>
void take_reserved(Use& use, uint32_t cells) noexcept {
  use.reserved_left -= static_cast<int32_t>(cells);
  use.pool->reserved += cells;
}

// Shared first, then reserved.
template <typename Use>
void release_cells(Use& use, uint32_t cells) noexcept {
  const uint32_t shared = std::min(use.shared, cells);
  use.shared -= shared;
  use.pool->free += static_cast<int32_t>(shared);
  use.reserved_left += static_cast<int32_t>(cells - shared);
  use.pool->reserved -= cells - shared;
}

uint32_t out_of_headroom(PriorityGroupUse& group, uint32_t cells) noexcept {
  const uint32_t back = std::min(group.headroom, cells);
  group.headroom -= back;
  group.pool->headroom -= back;
  return back;
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
      extremes_(groups_.size()),
      queues_(size_t{ports + 1} * kQueues),
      ingress_(1),
      egress_(1) {
  for (PriorityGroupUse& group : groups_) group.pool = ingress_.data();
  for (QueueUse& queue : queues_) queue.pool = egress_.data();
}

uint32_t Mmu::refuse(DropReason reason) noexcept {
  refused_for_ = reason;
  return 0;
}

uint32_t Mmu::admit_otherwise(PriorityGroupUse& group, QueueUse& queue, uint32_t cells) noexcept {
  const auto wanted = static_cast<int32_t>(cells);
  const bool queue_reserved = wanted <= queue.reserved_left;
  if (!queue_reserved && !fits(queue, cells)) {
    return refuse(queue.shut ? DropReason::kPfcWatchdog : DropReason::kQueueFull);
  }
  if (wanted <= group.reserved_left) {
    take_reserved(group, cells);
  } else if (fits(group, cells)) {
    take(group, cells);
  } else if (!has_headroom(group, cells)) {
    ++extremes_of(group).refused;
    if (group.shut) return refuse(DropReason::kPfcWatchdogIngress);
    return refuse(group.lossless ? DropReason::kHeadroomFull : DropReason::kIngressFull);
  } else {
    group.headroom += cells;
    group.pool->headroom += cells;
    raise(extremes_of(group).headroom_watermark, group.headroom);
    raise(group.pool->headroom_watermark, group.pool->headroom);
    must_raise_xoff_ = !group.xoff;
    set_xoff(group, true);
  }
  if (queue_reserved) {
    take_reserved(queue, cells);
  } else {
    take(queue, cells);
  }
  ++group.packets;
  return cells;
}

bool Mmu::has_headroom(const PriorityGroupUse& group, uint32_t cells) noexcept {
  const PoolUse& pool = *group.pool;
  const bool own = group.headroom + cells <= group.headroom_limit;
  const bool pooled = pool.headroom_limit == 0 || pool.headroom + cells <= pool.headroom_limit;
  return group.lossless && !group.shut && own && pooled;
}

bool Mmu::release_otherwise(PriorityGroupUse& group, QueueUse& queue, uint32_t cells) noexcept {
  release_cells(queue, cells);
  release_cells(group, cells - out_of_headroom(group, cells));
  const bool may_go = group.xoff && may_clear_xoff(group);
  return may_go || group.credited;
}

bool Mmu::may_clear_xoff(PriorityGroupUse& group) noexcept {
  if (group.headroom != 0) return false;
  const uint64_t limit = group.limit.of(group.pool->to_give());
  const uint64_t below = limit > group.xon_offset ? limit - group.xon_offset : 0;
  if (group.shared > std::max<uint64_t>(group.xon, below)) return false;
  set_xoff(group, false);
  return true;
}

void Mmu::apply(const BufferPlan& plan) {
  SOFTSPINE_CHECK(plan.ports.size() == ports_ + 1, plan.ports.size(), ports_ + 1);
  SOFTSPINE_CHECK(!planned_ || plan.cell == cell_, plan.cell.bytes(), cell_.bytes());
  cell_ = plan.cell;
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
    for (uint32_t i = 0; i < kQueues; ++i) {
      QueueUse& queue = queue_of(port, i);
      plan_queue(queue, plan.ports[port].queues[i]);
      queue.pool->reserved += queue.reserved();
      queue.pool->free -= static_cast<int32_t>(queue.shared);
    }
  }
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

void Mmu::plan_queue(QueueUse& queue, const QueuePlan& wanted) {
  SOFTSPINE_CHECK(wanted.pool < egress_.size(), wanted.pool, egress_.size());
  const uint32_t reserved = queue.reserved();
  queue.pool = &egress_[wanted.pool];
  queue.limit = queue.shut ? SharedLimit{} : wanted.limit;
  queue.reserved_limit = queue.shut ? 0 : wanted.reserved_cells;
  queue.reserved_left = static_cast<int32_t>(queue.reserved_limit - reserved);
}

void Mmu::set_pg(uint32_t port, uint32_t index, const PriorityGroupPlan& plan, bool shut) noexcept {
  group_of(port, index).shut = shut;
  plan_group(group_of(port, index), plan);
}

void Mmu::set_queue(uint32_t port, uint32_t index, const QueuePlan& plan, bool shut) noexcept {
  queue_of(port, index).shut = shut;
  plan_queue(queue_of(port, index), plan);
}

bool Mmu::reconsider_xoff(uint16_t port, uint8_t index) noexcept {
  PriorityGroupUse& group = group_of(port, index);
  if (!group.xoff) return false;
  if (group.lossless) return may_clear_xoff(group);
  set_xoff(group, false);
  return true;
}

uint64_t Mmu::pg_limit(uint32_t port, uint32_t index) const {
  const PriorityGroupUse& use = pg(port, index);
  return use.limit.of(use.pool->to_give());
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

const char* Mmu::validate(bool empty) const noexcept {
  struct Sum {
    uint64_t reserved = 0, shared = 0, headroom = 0;
  };
  std::vector<Sum> in(ingress_.size());
  std::vector<Sum> out(egress_.size());
  for (const PriorityGroupUse& group : groups_) {
    Sum& sum = in[of_pool(group)];
    sum.reserved += group.reserved();
    sum.shared += group.shared;
    sum.headroom += group.headroom;
    if (empty && group.held() != 0) return "cells are held by a priority group though no packet is";
    if (empty && group.xoff) return "a priority group still asks to stop though it holds nothing";
  }
  for (const QueueUse& queue : queues_) {
    out[of_pool(queue)].reserved += queue.reserved();
    out[of_pool(queue)].shared += queue.shared;
    if (empty && queue.held() != 0) return "cells are held by a queue though no packet is";
  }
  uint64_t held_in = 0;
  uint64_t held_out = 0;
  const auto differ = [](const Sum& sum, const PoolUse& pool) {
    return sum.reserved != pool.reserved || sum.shared != pool.shared() || sum.headroom != pool.headroom;
  };
  for (size_t i = 0; i < in.size(); ++i) {
    if (differ(in[i], ingress_[i])) return "an ingress pool's use is not the sum of its priority groups'";
    held_in += in[i].reserved + in[i].shared + in[i].headroom;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (differ(out[i], egress_[i])) return "an egress pool's use is not the sum of its queues'";
    held_out += out[i].reserved + out[i].shared;
  }
  return held_in == held_out ? "" : "cells charged at ingress are not those charged at egress";
}

}  // namespace softspine::dataplane
