// SPDX-License-Identifier: Apache-2.0
// What the shared buffer (mmu.hpp) knows of each pool, priority group, queue and port, and the single steps of charging
// and releasing. `Use` is a priority group's or a queue's.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/buffer/buffer_plan.hpp"
#include "dataplane/buffer/priority_group_counters.hpp"

namespace softspine::dataplane {

struct alignas(32) PoolUse {
  int32_t free = 0;        // shared cells; below 0 when a new plan has fewer than are held
  int32_t least_free = 0;  // since the start or the last clearing
  uint32_t headroom = 0;
  uint32_t reserved = 0;
  uint32_t headroom_watermark = 0;
  uint32_t shared_limit = 0;  // as planned
  uint32_t headroom_limit = 0;

  uint32_t shared() const { return shared_limit - static_cast<uint32_t>(free); }
  uint32_t watermark() const { return shared_limit - static_cast<uint32_t>(least_free); }
  uint32_t to_give() const { return static_cast<uint32_t>(std::max(free, 0)); }
};

// One cache line: what a packet touches of its group.
struct alignas(64) PriorityGroupUse {
  PoolUse* pool = nullptr;
  uint32_t shared = 0;  // cells held
  uint32_t headroom = 0;
  int32_t reserved_left = 0;  // of reserved_limit; below 0 when a new plan has less than is held
  uint32_t reserved_limit = 0;
  uint32_t headroom_limit = 0;
  SharedLimit limit;
  uint32_t shared_watermark = 0;
  uint32_t xon = 0;
  uint32_t xon_offset = 0;
  uint64_t packets = 0;  // admitted: SAI's INGRESS_PRIORITY_GROUP_STAT_PACKETS
  bool lossless = false;
  bool xoff = false;
  bool shut = false;  // the PFC watchdog makes it refuse every frame
  bool credited = false;
  bool watched = false;  // xoff or credited: a release is not the usual one
  uint8_t slice = 0;     // that its port's frames are stored in

  uint32_t reserved() const { return reserved_limit - static_cast<uint32_t>(reserved_left); }
  uint32_t held() const { return reserved() + shared + headroom; }
};
static_assert(sizeof(PriorityGroupUse) == 64);

// Rare events of a group, apart from what every packet touches.
struct PriorityGroupExtremes {
  PriorityGroupCounters counters;
  uint32_t headroom_watermark = 0;
};

struct alignas(64) QueueUse {
  PoolUse* pool = nullptr;
  uint32_t shared = 0;
  int32_t reserved_left = 0;
  uint32_t reserved_limit = 0;
  SharedLimit limit;
  uint32_t shared_watermark = 0;
  bool shut = false;

  uint32_t reserved() const { return reserved_limit - static_cast<uint32_t>(reserved_left); }
  uint32_t held() const { return reserved() + shared; }
};

// The part of one pool that all groups (queues) of one port share.
struct PortUse {
  const PoolUse* pool = nullptr;
  uint32_t shared = 0;
  SharedLimit limit;
};

inline void raise_watermark(uint32_t& watermark, uint32_t use) noexcept {
  if (use > watermark) watermark = use;
}
// Whether a watermark is lower than the use is, or will be with so many cells more.
template <typename Use>
bool is_new_high(const Use& use) noexcept {
  return use.shared > use.shared_watermark || use.pool->free < use.pool->least_free;
}
template <typename Use>
bool is_next_high(const Use& use, uint32_t cells) noexcept {
  return use.shared + cells > use.shared_watermark ||
         use.pool->free - static_cast<int32_t>(cells) < use.pool->least_free;
}
template <typename Use>
bool fits(const Use& use, uint32_t cells) noexcept {
  const int32_t free = use.pool->free;
  return static_cast<int32_t>(cells) <= free &&
         int64_t{use.shared + cells} <= use.limit.of(static_cast<uint32_t>(free));
}
// While the pool has no cells below 0: with so many more free ones.
template <typename Use>
int64_t limit_with(const Use& use, uint32_t more) noexcept {
  return use.limit.of(static_cast<uint32_t>(use.pool->free) + more);
}
// Whether the pool has the cells, and the group is still below its limit when it has taken them.
inline bool stays_below(const PriorityGroupUse& group, uint32_t cells) noexcept {
  const int32_t left = group.pool->free - static_cast<int32_t>(cells);
  return left >= 0 && int64_t{group.shared + cells} < group.limit.of(static_cast<uint32_t>(left));
}
template <typename Use>
void charge_shared(Use& use, uint32_t cells) noexcept {
  use.shared += cells;
  use.pool->free -= static_cast<int32_t>(cells);
}
template <typename Use>
void release_shared(Use& use, uint32_t cells) noexcept {
  use.shared -= cells;
  use.pool->free += static_cast<int32_t>(cells);
}
// Of reserved cells.
template <typename Use>
bool has_own(const Use& use, uint32_t cells) noexcept {
  return use.reserved_left >= static_cast<int32_t>(cells);
}
template <typename Use>
void charge_own(Use& use, uint32_t cells) noexcept {
  use.reserved_left -= static_cast<int32_t>(cells);
  use.pool->reserved += cells;
}
template <typename Use>
void release_own(Use& use, uint32_t cells) noexcept {
  use.reserved_left += static_cast<int32_t>(cells);
  use.pool->reserved -= cells;
}
// Whether as many cells as are released go back to one memory.
template <typename Use>
bool is_in_one(const Use& use, uint32_t cells) noexcept {
  return use.shared >= cells || use.shared == 0;
}
template <typename Use>
void note_watermarks(Use& use) noexcept {
  raise_watermark(use.shared_watermark, use.shared);
  PoolUse& pool = *use.pool;
  if (pool.free < pool.least_free) pool.least_free = pool.free;
}
}  // namespace softspine::dataplane
