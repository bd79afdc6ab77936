// SPDX-License-Identifier: Apache-2.0
// Steps of the shared buffer (mmu.hpp) that the usual packet does not take: headroom, cells of two memories at once,
// and limits of ports. `Use` is a priority group's or a queue's; a null port has no limit.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/buffer/memory_use.hpp"

namespace softspine::dataplane {

// How many of the cells what is left of reserved memory holds.
template <typename Use>
uint32_t own_part(const Use& use, uint32_t cells) noexcept {
  return std::min(static_cast<uint32_t>(std::max(use.reserved_left, 0)), cells);
}

// Whether the cells may be charged to shared memory as far as the port is concerned.
inline bool fits_port(const PortUse* port, uint32_t cells) noexcept {
  return port == nullptr || int64_t{port->shared + cells} <= port->limit.of(port->pool->to_give());
}
inline void charge_port(PortUse* port, uint32_t cells) noexcept {
  if (port != nullptr) port->shared += cells;
}

// Shared first, then reserved.
template <typename Use>
void release_cells(Use& use, PortUse* port, uint32_t cells) noexcept {
  const uint32_t shared = std::min(use.shared, cells);
  use.shared -= shared;
  if (port != nullptr) port->shared -= shared;
  use.pool->free += static_cast<int32_t>(shared);
  use.reserved_left += static_cast<int32_t>(cells - shared);
  use.pool->reserved -= cells - shared;
}

inline uint32_t out_of_headroom(PriorityGroupUse& group, uint32_t cells) noexcept {
  const uint32_t back = std::min(group.headroom, cells);
  group.headroom -= back;
  group.pool->headroom -= back;
  return back;
}

inline bool may_cross_limit(const PriorityGroupUse& group, uint32_t cells) noexcept {
  return group.lossless && !group.credited && !group.xoff && !group.shut &&
         static_cast<int32_t>(cells) <= group.pool->free;
}

inline bool has_headroom(const PriorityGroupUse& group, uint32_t cells) noexcept {
  const PoolUse& pool = *group.pool;
  const bool own = group.headroom + cells <= group.headroom_limit;
  const bool pooled = pool.headroom_limit == 0 || pool.headroom + cells <= pool.headroom_limit;
  return group.lossless && !group.shut && own && pooled;
}

}  // namespace softspine::dataplane
