// SPDX-License-Identifier: Apache-2.0
// The shared buffer of a switch: who holds how many cells, who may have more, and when a group asks its
// sender to stop. Never sees a packet: ports, groups, queues and bytes. (buffer_plan.hpp has the words.)
//
// admit: a frame of c cells is charged twice, whole each time, or refused:
//   ingress   reserved use + c ≤ reserved                                            → reserved
//             else shared use + c ≤ limit, and the pool's shared use + c ≤ its shared → shared
//             else lossless: headroom use + c ≤ headroom, and if the pool has a shared
//                  headroom, the pool's headroom use + c ≤ that                       → headroom: XOFF
//             else refused: kHeadroomFull of a lossless group, kIngressFull of another
//   egress    reserved, else shared, else refused: kQueueFull
// release: when its last bit has left (or it ended waiting) the cells go back, headroom first, then shared,
//   then reserved: so a group's headroom is free again before it says XON.
//   XON  ⇔  XOFF before, headroom use 0, shared use ≤ max(xon, limit − xon_offset); looked at whenever the
//   group gives cells back.
//
// What the switch makes itself is charged to one more port, behind the last.
// A new plan (apply) moves nothing: what is held stays charged as it was, and only what comes is judged by it.
//
// Invariants: a pool's use = the sum of its groups' (queues') use; no use is negative; all are 0 when nothing
// is held. Watermarks: the highest use since the start or since they were cleared.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/buffer/buffer_plan.hpp"
#include "dataplane/packet/drop_reason.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::dataplane {

// One cache line: what a packet touches of its group.
struct alignas(64) GroupUse {
  uint32_t reserved = 0;  // cells held
  uint32_t shared = 0;
  uint32_t headroom = 0;
  uint32_t shared_watermark = 0;
  uint32_t headroom_watermark = 0;
  uint32_t reserved_most = 0;  // as planned
  uint32_t headroom_most = 0;
  SharedLimit limit;
  uint32_t xon = 0;
  uint32_t xon_offset = 0;
  uint8_t pool = 0;
  bool lossless = false;
  bool xoff = false;
  bool shut = false;     // takes nothing: PFC watchdog
  uint32_t refused = 0;  // frames: SAI's INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS

  uint32_t held() const { return reserved + shared + headroom; }
};
static_assert(sizeof(GroupUse) == 64);

struct alignas(32) QueueUse {
  uint32_t reserved = 0;
  uint32_t shared = 0;
  uint32_t watermark = 0;  // of both
  uint32_t reserved_most = 0;
  SharedLimit limit;
  uint8_t pool = 0;
  bool shut = false;

  uint32_t held() const { return reserved + shared; }
};

struct alignas(32) PoolUse {
  int32_t free = 0;        // of what is shared; below 0 when a new plan has less than is held
  int32_t least_free = 0;  // since the start or the last clearing
  uint32_t headroom = 0;
  uint32_t reserved = 0;
  uint32_t headroom_watermark = 0;
  uint32_t shared_most = 0;  // as planned
  uint32_t headroom_most = 0;

  uint32_t shared() const { return shared_most - static_cast<uint32_t>(free); }
  uint32_t watermark() const { return shared_most - static_cast<uint32_t>(least_free); }
  uint32_t to_give() const { return static_cast<uint32_t>(std::max(free, 0)); }
};

class Mmu {
 public:
  // Until the first plan is applied nothing is admitted.
  explicit Mmu(uint32_t ports);

  struct Account {
    uint16_t in_port;  // ports(): the switch itself
    uint16_t out_port;
    uint8_t group;
    uint8_t queue;
  };
  struct Admission {
    DropReason refused;  // kCount: admitted
    bool xoff;           // the group has just asked its sender to stop
    uint16_t cells;      // what it is charged; to be given back by release()
  };

  [[gnu::always_inline]] Admission admit(const Account& account, uint32_t frame_bytes) noexcept {
    GroupUse& group = group_of(account.in_port, account.group);
    QueueUse& queue = queue_of(account.out_port, account.queue);
    PoolUse& ingress = ingress_[group.pool];
    PoolUse& egress = egress_[queue.pool];
    const uint32_t cells = cell_.cells_of(frame_bytes);
    const bool queue_reserved = queue.reserved + cells <= queue.reserved_most;
    if (!queue_reserved && !fits(queue.shared, cells, queue.limit, egress)) [[unlikely]]
      return {queue.shut ? DropReason::kPfcWatchdog : DropReason::kQueueFull, false, 0};
    bool xoff = false;
    if (group.reserved + cells <= group.reserved_most) {
      group.reserved += cells;
      ingress.reserved += cells;
    } else if (fits(group.shared, cells, group.limit, ingress)) [[likely]] {
      group.shared += cells;
      raise(group.shared_watermark, group.shared);
      take(ingress, cells);
    } else {
      const DropReason refused = into_headroom(group, ingress, cells);
      if (refused != DropReason::kCount) return {refused, false, 0};
      xoff = !group.xoff;
      group.xoff = true;
    }
    if (queue_reserved) {
      queue.reserved += cells;
      egress.reserved += cells;
    } else {
      queue.shared += cells;
      take(egress, cells);
    }
    raise(queue.watermark, queue.held());
    return {DropReason::kCount, xoff, static_cast<uint16_t>(cells)};
  }

  // Returns whether the group may be sent to again (XON).
  [[gnu::always_inline]] bool release(const Account& account, uint32_t cells) noexcept {
    GroupUse& group = group_of(account.in_port, account.group);
    QueueUse& queue = queue_of(account.out_port, account.queue);
    give_back(queue, egress_[queue.pool], cells);
    PoolUse& ingress = ingress_[group.pool];
    if (group.headroom == 0 && !group.xoff) [[likely]] {
      give_back(group, ingress, cells);
      return false;
    }
    give_back(group, ingress, cells - out_of_headroom(group, ingress, cells));
    return group.xoff && say_xon(group, ingress);
  }

  // Between windows. The first plan fixes the size of a cell; every further one has the same.
  void apply(const BufferPlan& plan);
  // The PFC watchdog: what comes is refused (kPfcWatchdog) until it is opened again. Survives apply().
  void shut_group(uint32_t port, uint32_t group) noexcept;
  void shut_queue(uint32_t port, uint32_t queue) noexcept;
  void open_group(uint32_t port, uint32_t group, const GroupPlan& plan) noexcept;
  void open_queue(uint32_t port, uint32_t queue, const QueuePlan& plan) noexcept;
  // After apply(): whether a group that had asked to stop has nothing left to wait for. Clears its state.
  bool settle(uint16_t port, uint8_t group) noexcept;

  uint32_t ports() const { return ports_; }
  CellSize cell() const { return cell_; }
  const GroupUse& group(uint32_t port, uint32_t group) const { return groups_[port * kPriorities + group]; }
  const QueueUse& queue(uint32_t port, uint32_t queue) const { return queues_[port * kQueues + queue]; }
  const std::vector<PoolUse>& ingress_pools() const { return ingress_; }
  const std::vector<PoolUse>& egress_pools() const { return egress_; }
  uint64_t group_limit(uint32_t port, uint32_t group) const;
  void clear_watermarks() noexcept;
  // Invariant 2, and that nothing is held if `empty`: where it is broken, or an empty text.
  const char* wrong(bool empty) const noexcept;

 private:
  static void raise(uint32_t& watermark, uint32_t use) noexcept {
    if (use > watermark) watermark = use;
  }
  static bool fits(uint32_t use, uint32_t cells, SharedLimit limit, const PoolUse& pool) noexcept {
    return static_cast<int32_t>(cells) <= pool.free && use + cells <= limit.of(static_cast<uint32_t>(pool.free));
  }
  static void take(PoolUse& pool, uint32_t cells) noexcept {
    pool.free -= static_cast<int32_t>(cells);
    if (pool.free < pool.least_free) pool.least_free = pool.free;
  }
  template <typename Use>
  [[gnu::always_inline]] static void give_back(Use& use, PoolUse& pool, uint32_t cells) noexcept {
    if (use.shared >= cells) [[likely]] {
      use.shared -= cells;
      pool.free += static_cast<int32_t>(cells);
      return;
    }
    pool.free += static_cast<int32_t>(use.shared);
    const uint32_t rest = cells - use.shared;
    use.shared = 0;
    use.reserved -= rest;
    pool.reserved -= rest;
  }
  GroupUse& group_of(uint32_t port, uint32_t group) { return groups_[port * kPriorities + group]; }
  QueueUse& queue_of(uint32_t port, uint32_t queue) { return queues_[port * kQueues + queue]; }
  [[gnu::noinline]] static DropReason into_headroom(GroupUse& group, PoolUse& pool, uint32_t cells) noexcept;
  [[gnu::noinline]] static uint32_t out_of_headroom(GroupUse& group, PoolUse& pool, uint32_t cells) noexcept;
  [[gnu::noinline]] static bool say_xon(GroupUse& group, const PoolUse& pool) noexcept;

  void plan_group(GroupUse& group, const GroupPlan& wanted) const;
  void plan_queue(QueueUse& queue, const QueuePlan& wanted) const;

  uint32_t ports_;
  CellSize cell_;
  bool planned_ = false;
  std::vector<GroupUse> groups_;  // by port, then group; one port more than there are
  std::vector<QueueUse> queues_;
  std::vector<PoolUse> ingress_;
  std::vector<PoolUse> egress_;
};

}  // namespace softspine::dataplane
