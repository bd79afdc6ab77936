// SPDX-License-Identifier: Apache-2.0
#include "dataplane/buffer/mmu.hpp"

#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

Mmu::Mmu(uint32_t ports)
    : ports_(ports),
      groups_(size_t{ports + 1} * kPriorities),
      queues_(size_t{ports + 1} * kQueues),
      ingress_(1),
      egress_(1) {}

DropReason Mmu::into_headroom(GroupUse& group, PoolUse& pool, uint32_t cells) noexcept {
  const bool own = group.headroom + cells <= group.headroom_most;
  const bool pooled = pool.headroom_most == 0 || pool.headroom + cells <= pool.headroom_most;
  if (group.shut || !group.lossless || !own || !pooled) {
    ++group.refused;
    if (group.shut) return DropReason::kPfcWatchdog;
    return group.lossless ? DropReason::kHeadroomFull : DropReason::kIngressFull;
  }
  group.headroom += cells;
  pool.headroom += cells;
  raise(group.headroom_watermark, group.headroom);
  raise(pool.headroom_watermark, pool.headroom);
  return DropReason::kCount;
}

uint32_t Mmu::out_of_headroom(GroupUse& group, PoolUse& pool, uint32_t cells) noexcept {
  const uint32_t back = std::min(group.headroom, cells);
  group.headroom -= back;
  pool.headroom -= back;
  return back;
}

bool Mmu::say_xon(GroupUse& group, const PoolUse& pool) noexcept {
  if (group.headroom != 0) return false;
  const uint64_t limit = group.limit.of(pool.to_give());
  const uint64_t below = limit > group.xon_offset ? limit - group.xon_offset : 0;
  if (group.shared > std::max<uint64_t>(group.xon, below)) return false;
  group.xoff = false;
  return true;
}

void Mmu::apply(const BufferPlan& plan) {
  SOFTSPINE_CHECK(plan.ports.size() == ports_ + 1, plan.ports.size(), ports_ + 1);
  SOFTSPINE_CHECK(!planned_ || plan.cell == cell_, plan.cell.bytes(), cell_.bytes());
  cell_ = plan.cell;
  planned_ = true;
  const auto pools_of = [](const std::vector<PoolPlan>& plans, const std::vector<PoolUse>& before) {
    std::vector<PoolUse> pools(plans.size());
    for (size_t i = 0; i < plans.size(); ++i) {
      pools[i].shared_most = plans[i].shared_cells;
      pools[i].headroom_most = plans[i].headroom_cells;
      pools[i].free = static_cast<int32_t>(plans[i].shared_cells);
      if (i >= before.size()) continue;
      pools[i].headroom_watermark = before[i].headroom_watermark;
      pools[i].least_free = pools[i].free - static_cast<int32_t>(before[i].watermark());
    }
    return pools;
  };
  ingress_ = pools_of(plan.ingress_pools, ingress_);
  egress_ = pools_of(plan.egress_pools, egress_);
  for (uint32_t port = 0; port <= ports_; ++port) {
    for (uint32_t i = 0; i < kPriorities; ++i) {
      plan_group(group_of(port, i), plan.ports[port].groups[i]);
      const GroupUse& group = group_of(port, i);
      PoolUse& pool = ingress_[group.pool];
      pool.reserved += group.reserved;
      pool.free -= static_cast<int32_t>(group.shared);
      pool.headroom += group.headroom;
    }
    for (uint32_t i = 0; i < kQueues; ++i) {
      plan_queue(queue_of(port, i), plan.ports[port].queues[i]);
      const QueueUse& queue = queue_of(port, i);
      egress_[queue.pool].reserved += queue.reserved;
      egress_[queue.pool].free -= static_cast<int32_t>(queue.shared);
    }
  }
}

void Mmu::plan_group(GroupUse& group, const GroupPlan& wanted) const {
  SOFTSPINE_CHECK(wanted.pool < ingress_.size(), wanted.pool, ingress_.size());
  group.limit = group.shut ? SharedLimit{} : wanted.limit;
  group.reserved_most = group.shut ? 0 : wanted.reserved_cells;
  group.headroom_most = group.shut ? 0 : wanted.headroom_cells;
  group.xon = wanted.xon_cells;
  group.xon_offset = wanted.xon_offset_cells;
  group.pool = wanted.pool;
  group.lossless = wanted.lossless;
}

void Mmu::plan_queue(QueueUse& queue, const QueuePlan& wanted) const {
  SOFTSPINE_CHECK(wanted.pool < egress_.size(), wanted.pool, egress_.size());
  queue.limit = queue.shut ? SharedLimit{} : wanted.limit;
  queue.reserved_most = queue.shut ? 0 : wanted.reserved_cells;
  queue.pool = wanted.pool;
}

void Mmu::shut_group(uint32_t port, uint32_t index) noexcept {
  GroupUse& group = group_of(port, index);
  group.shut = true;
  group.limit = {};
  group.reserved_most = group.headroom_most = 0;
}

void Mmu::shut_queue(uint32_t port, uint32_t index) noexcept {
  QueueUse& queue = queue_of(port, index);
  queue.shut = true;
  queue.limit = {};
  queue.reserved_most = 0;
}

void Mmu::open_group(uint32_t port, uint32_t index, const GroupPlan& plan) noexcept {
  group_of(port, index).shut = false;
  plan_group(group_of(port, index), plan);
}

void Mmu::open_queue(uint32_t port, uint32_t index, const QueuePlan& plan) noexcept {
  queue_of(port, index).shut = false;
  plan_queue(queue_of(port, index), plan);
}

bool Mmu::settle(uint16_t port, uint8_t index) noexcept {
  GroupUse& group = group_of(port, index);
  if (!group.xoff) return false;
  if (group.lossless) return say_xon(group, ingress_[group.pool]);
  group.xoff = false;
  return true;
}

uint64_t Mmu::group_limit(uint32_t port, uint32_t index) const {
  const GroupUse& use = group(port, index);
  return use.limit.of(ingress_[use.pool].to_give());
}

void Mmu::clear_watermarks() noexcept {
  for (GroupUse& group : groups_) {
    group.shared_watermark = group.shared;
    group.headroom_watermark = group.headroom;
  }
  for (QueueUse& queue : queues_) queue.watermark = queue.held();
  for (auto* pools : {&ingress_, &egress_}) {
    for (PoolUse& pool : *pools) {
      pool.least_free = pool.free;
      pool.headroom_watermark = pool.headroom;
    }
  }
}

const char* Mmu::wrong(bool empty) const noexcept {
  std::vector<PoolUse> in(ingress_.size());
  std::vector<PoolUse> out(egress_.size());
  for (const GroupUse& group : groups_) {
    in[group.pool].reserved += group.reserved;
    in[group.pool].free -= static_cast<int32_t>(group.shared);
    in[group.pool].headroom += group.headroom;
    if (empty && group.held() != 0) return "cells are held by a priority group though no packet is";
    if (empty && group.xoff) return "a priority group still asks to stop though it holds nothing";
  }
  for (const QueueUse& queue : queues_) {
    out[queue.pool].reserved += queue.reserved;
    out[queue.pool].free -= static_cast<int32_t>(queue.shared);
    if (empty && queue.held() != 0) return "cells are held by a queue though no packet is";
  }
  const auto differ = [](const PoolUse& a, const PoolUse& b) {
    const auto shared = static_cast<uint32_t>(-a.free);
    return a.reserved != b.reserved || shared != b.shared() || a.headroom != b.headroom;
  };
  uint64_t held_in = 0;
  uint64_t held_out = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    if (differ(in[i], ingress_[i])) return "an ingress pool's use is not the sum of its priority groups'";
    held_in += uint64_t{in[i].reserved} + ingress_[i].shared() + in[i].headroom;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (differ(out[i], egress_[i])) return "an egress pool's use is not the sum of its queues'";
    held_out += uint64_t{out[i].reserved} + egress_[i].shared();
  }
  return held_in == held_out ? "" : "cells charged at ingress are not those charged at egress";
}

}  // namespace softspine::dataplane
