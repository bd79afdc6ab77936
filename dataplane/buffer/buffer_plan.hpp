// SPDX-License-Identifier: Apache-2.0
// How a switch divides its packet memory: pools, and what each priority group and each queue may use of them.
// Compiled by control from SONiC's tables (BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE); immutable.
//
// All sizes are cells. A frame takes whole cells:  cells = ⌈frame bytes / cell bytes⌉.
//
//   pool      shared    cells that its groups or queues share; their reserved cells are not part of it
//             headroom  the shared headroom pool (BUFFER_POOL xoff); 0: every group has its own
//   port      limit     of the shared use of all its groups, or queues, in one pool (BUFFER_PORT_INGRESS_PROFILE_LIST,
//                       …_EGRESS_…); most switches have none
//   group     reserved  cells that only this group may use (BUFFER_PROFILE size)
//             limit     of its shared use: 2^dynamic_th × (pool shared − pool's shared use), or static
//             headroom  lossless only: for what arrives after XOFF (xoff)
//             xon, xon_offset   XON when nothing is in headroom and use ≤ max(xon, reserved + limit − xon_offset),
//                       where use is reserved and shared (SAI: the total buffer usage)
//   queue     reserved and limit, as for a group
//
// A memory may be divided into slices; each slice then has every pool. A packet is stored in the slice of its ingress
// port, where its group and its queue are charged: a queue therefore has a use and a limit in every slice.
// Sources: SAI saibuffer.h, SONiC's buffer model.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "dataplane/units/ids.hpp"

namespace softspine::dataplane {

// Frames to cells without a division. Exact for frames below 2^16 bytes and cells up to 2^16.
class CellSize {
 public:
  explicit constexpr CellSize(uint32_t bytes = 1)
      : bytes_(bytes), reciprocal_(((uint64_t{1} << 32) + bytes - 1) / bytes) {}
  constexpr uint32_t bytes() const { return bytes_; }
  constexpr uint32_t cells_of(uint32_t frame_bytes) const {
    return static_cast<uint32_t>((uint64_t{frame_bytes + bytes_ - 1} * reciprocal_) >> 32);
  }
  friend constexpr bool operator==(CellSize, CellSize) = default;

 private:
  uint32_t bytes_;
  uint64_t reciprocal_;
};

// The limit of shared use. Dynamic: 2^n × the pool's free cells; static: a number of cells. One formula for both:
//   limit = cells + ⌊free × alpha_q8 / 256⌋        static: alpha 0      dynamic: cells 0
// The limit may be below 0 where reserved cells count towards it, too (Tomahawk 2): `cells` is then negative.
struct SharedLimit {
  int32_t cells = 0;
  uint32_t alpha_q8 = 0;

  static constexpr int kMinDynamicTh = -8;
  static constexpr int kMaxDynamicTh = 8;
  static constexpr SharedLimit fixed(uint32_t cells) { return {static_cast<int32_t>(cells), 0}; }
  static constexpr SharedLimit dynamic(int th) { return {0, 1U << (th + 8)}; }
  constexpr int64_t of(uint64_t free_cells) const { return cells + static_cast<int64_t>((free_cells * alpha_q8) >> 8); }
  friend constexpr bool operator==(const SharedLimit&, const SharedLimit&) = default;
};

struct PoolPlan {
  uint32_t shared_cells = 0;
  uint32_t headroom_cells = 0;
};

struct PriorityGroupPlan {
  uint8_t pool = 0;  // into BufferPlan::ingress_pools
  bool lossless = false;
  uint32_t reserved_cells = 0;
  SharedLimit limit;
  uint32_t headroom_cells = 0;
  uint32_t xon_cells = 0;
  uint32_t xon_offset_cells = 0;
  bool credited = false;  // its sender needs credit: release() reports each release
};

struct QueuePlan {
  uint8_t pool = 0;             // into BufferPlan::egress_pools, in slice 0: those of further slices follow it
  uint32_t reserved_cells = 0;  // in each slice
  SharedLimit limit;
};

// The limit of the shared use of all groups (queues) of a port in one pool.
struct PortLimitPlan {
  uint8_t pool = 0;
  SharedLimit limit;
};

struct PortBufferPlan {
  std::array<PriorityGroupPlan, kPriorities> groups;
  std::array<QueuePlan, kQueues> queues;
  uint8_t slice = 0;                          // stores the frames that come in here; the groups use this slice's pools
  std::vector<PortLimitPlan> ingress_limits;  // at most one for each pool
  std::vector<PortLimitPlan> egress_limits;
};

struct BufferPlan {
  static constexpr uint32_t kMaxPools = 64;
  // Far above any memory, far below where sums of cells would overflow.
  static constexpr uint32_t kUnlimitedCells = 1U << 30;

  CellSize cell;
  uint32_t slices = 1;
  std::vector<PoolPlan> ingress_pools;  // 1 … kMaxPools
  std::vector<PoolPlan> egress_pools;
  std::vector<PortBufferPlan> ports;  // one for each port, then one for frames that the switch makes itself

  // Nothing shared: each queue has a limit of its own, in bytes, and ingress takes everything.
  static BufferPlan plain_limits(uint32_t ports, const std::array<uint32_t, kQueues>& queue_limit_bytes);
};

}  // namespace softspine::dataplane
