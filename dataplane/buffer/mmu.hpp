// SPDX-License-Identifier: Apache-2.0
// The shared buffer of a switch: how many cells each priority group and each queue holds, whether it may have more, and
// when a priority group has to raise XOFF. The Mmu never sees a packet, only ports, groups, queues and bytes. A group
// here is always a priority group (PG). Pools, limits, reserved and headroom are explained in buffer_plan.hpp.
//
// admit: a frame of c cells is charged, all c cells each time, to its group (ingress) and to its queue (egress):
//   ingress   s = c less what is left of reserved
//             the pool's shared use + s ≤ its shared, and shared use + s ≤ limit
//                 or the group is lossless and its XOFF is not raised               → reserved, and s cells shared
//             else lossless: headroom use + c ≤ headroom, and if the pool has a shared
//                  headroom, the pool's headroom use + c ≤ that                      → headroom, all c
//             else refused: kHeadroomFull of a lossless group, kIngressFull of another
//             lossless, and now in headroom, or shared use ≥ limit by what is now free       → XOFF
//   egress    reserved cells first, shared ones for the rest; if these do not suffice, refused: kQueueFull
//   What is charged to shared memory must also fit the port's limit of that pool, if it has one.
//   So the frame that takes a lossless group over its limit is still shared, as on the chips that sonic-mgmt publishes
//   cell counts of (its HdrmPoolSizeTest): headroom begins with the frame after XOFF, or when the pool is full.
// release: when a frame's last bit has left, or when it ended where it waited, its cells go back: headroom first, then
//   shared, then reserved. So a group's headroom is free again before its XOFF is cleared.
//   XOFF is cleared  ⇔  it was raised, headroom use is 0, and
//                       reserved + shared use ≤ max(xon, reserved limit + limit − xon_offset)
//   This condition is checked whenever cells of the group are released.
//
// In a memory of several slices (buffer_plan.hpp) a frame is charged to its queue's use in the slice of its ingress
// port. Frames that the switch makes itself are charged to one more port, whose number is ports(). A new plan (apply)
// moves no cells: cells that are held stay charged as they were, and only later frames are judged by the new plan.
//
// Invariants: a pool's use = the sum of its groups' (queues') use; no use is negative; all are 0 when nothing
// is held. Watermarks: the highest use since the start or since they were cleared.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/buffer/buffer_plan.hpp"
#include "dataplane/buffer/priority_group_counters.hpp"
#include "dataplane/packet/drop_reason.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/prefetch.hpp"

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

class alignas(kCacheLine) Mmu {
 public:
  // Until the first plan is applied nothing is admitted.
  explicit Mmu(uint32_t ports);

  // The group and the queue that a frame is charged to, by their numbers over all ports.
  struct Account {
    uint32_t group;
    uint32_t queue;
  };
  // in_port: ports() is the switch itself.
  static constexpr uint32_t number_of_pg(uint32_t in_port, uint32_t pg) { return in_port * kPriorities + pg; }
  static constexpr uint32_t number_of_queue(uint32_t out_port, uint32_t queue) { return out_port * kQueues + queue; }

  // Returns the cells that the frame is charged, which release() gives back; 0: refused, and refused_for() has the
  // reason. Handles the usual case, in which group and queue take shared cells; admit_otherwise() handles all others.
  [[gnu::always_inline]] uint32_t admit(const Account& account, uint32_t frame_bytes) noexcept {
    PriorityGroupUse& group = groups_[account.group];
    QueueUse& queue = queue_of(group, account.queue);
    const uint32_t cells = cell_.cells_of(frame_bytes);
    if (queue.reserved_left <= 0 && group.reserved_left <= 0 && fits(queue, cells) && !has_port_limits_) [[likely]] {
      charge_shared(queue,
                    cells);  // the queue first: registers do not hold what queue and group need at once
      if (stays_below(group, cells)) [[likely]] {
        charge_shared(group, cells);
        note_watermarks(queue);
        note_watermarks(group);
        ++group.packets;
        return cells;
      }
      release_shared(queue, cells);
    }
    return admit_otherwise(group, queue, cells);
  }
  // Called shortly before admit().
  [[gnu::always_inline]] void prefetch_for(const Account& account) const noexcept {
    prefetch(groups_.data() + account.group);
    prefetch(queues_.data() + account.queue);
  }
  DropReason refused_for() const { return refused_for_; }
  // Whether the frame admitted last made its group reach its limit. To be called after each frame; returns true once.
  [[gnu::always_inline]] bool must_raise_xoff() noexcept {
    if (!must_raise_xoff_) [[likely]]
      return false;
    must_raise_xoff_ = false;
    return true;
  }

  // Returns whether the group's XOFF is to be cleared. Always true for a group that grants credit, since it then has
  // more to grant.
  [[gnu::always_inline]] bool release(const Account& account, uint32_t cells) noexcept {
    PriorityGroupUse& group = groups_[account.group];
    QueueUse& queue = queue_of(group, account.queue);
    if (queue.shared >= cells && group.shared >= cells && group.headroom == 0 && !group.watched && !has_port_limits_)
        [[likely]] {
      release_shared(queue, cells);
      release_shared(group, cells);
      return false;
    }
    return release_otherwise(group, queue, cells);
  }

  // Between windows. The first plan fixes the size of a cell and the ports' slices; every further one has the same.
  void apply(const BufferPlan& plan);
  // For the PFC watchdog: while a group or queue is shut it refuses every frame (kPfcWatchdogIngress, kPfcWatchdog).
  // The group stays shut when a new plan is applied.
  void set_pg(uint32_t port, uint32_t pg, const PriorityGroupPlan& plan, bool shut) noexcept;
  void set_queue(uint32_t port, uint32_t queue, const QueuePlan& plan, bool shut) noexcept;
  // After apply(): whether a group that had raised XOFF may clear it by the new plan. If so, it counts as cleared.
  bool reconsider_xoff(uint16_t port, uint8_t group) noexcept;

  uint32_t ports() const { return ports_; }
  CellSize cell() const { return cell_; }
  const PriorityGroupUse& pg(uint32_t port, uint32_t pg) const { return groups_[port * kPriorities + pg]; }
  const PriorityGroupExtremes& extremes(uint32_t port, uint32_t pg) const { return extremes_[port * kPriorities + pg]; }
  uint32_t slices() const { return slices_; }
  const QueueUse& queue(uint32_t port, uint32_t queue, uint32_t slice = 0) const {
    return queues_[slice * queues_of_slice() + number_of_queue(port, queue)];
  }
  // A group's pool is ingress_pools()[of_pool(group)], a queue's egress_pools()[of_pool(queue)].
  size_t of_pool(const PriorityGroupUse& group) const { return static_cast<size_t>(group.pool - ingress_.data()); }
  size_t of_pool(const QueueUse& queue) const { return static_cast<size_t>(queue.pool - egress_.data()); }
  const std::vector<PoolUse>& ingress_pools() const { return ingress_; }
  const std::vector<PoolUse>& egress_pools() const { return egress_; }
  void clear_watermarks() noexcept;
  // Checks the invariants above, and if `empty` that no cell is held. Returns the one that is broken, or null.
  const char* validate(bool empty) const noexcept;

 private:
  static void raise(uint32_t& watermark, uint32_t use) noexcept {
    if (use > watermark) watermark = use;
  }
  template <typename Use>
  static bool fits(const Use& use, uint32_t cells) noexcept {
    const int32_t free = use.pool->free;
    return static_cast<int32_t>(cells) <= free &&
           int64_t{use.shared + cells} <= use.limit.of(static_cast<uint32_t>(free));
  }
  // Whether the pool has the cells, and the group is still below its limit when it has taken them.
  static bool stays_below(const PriorityGroupUse& group, uint32_t cells) noexcept {
    const int32_t left = group.pool->free - static_cast<int32_t>(cells);
    return left >= 0 && int64_t{group.shared + cells} < group.limit.of(static_cast<uint32_t>(left));
  }
  template <typename Use>
  static void charge_shared(Use& use, uint32_t cells) noexcept {
    use.shared += cells;
    use.pool->free -= static_cast<int32_t>(cells);
  }
  template <typename Use>
  static void release_shared(Use& use, uint32_t cells) noexcept {
    use.shared -= cells;
    use.pool->free += static_cast<int32_t>(cells);
  }
  template <typename Use>
  static void note_watermarks(Use& use) noexcept {
    raise(use.shared_watermark, use.shared);
    PoolUse& pool = *use.pool;
    if (pool.free < pool.least_free) pool.least_free = pool.free;
  }
  template <typename Use>
  static void take(Use& use, uint32_t cells) noexcept {
    charge_shared(use, cells);
    note_watermarks(use);
  }
  PriorityGroupExtremes& extremes_of(const PriorityGroupUse& group) {
    return extremes_[static_cast<size_t>(&group - groups_.data())];
  }
  PriorityGroupUse& group_of(uint32_t port, uint32_t group) { return groups_[port * kPriorities + group]; }
  QueueUse& queue_of(uint32_t port, uint32_t queue, uint32_t slice) {
    return queues_[slice * queues_of_slice() + number_of_queue(port, queue)];
  }
  QueueUse& queue_of(const PriorityGroupUse& group, uint32_t queue) {
    return queues_[group.slice * queues_of_slice() + queue];
  }
  uint32_t queues_of_slice() const { return (ports_ + 1) * kQueues; }
  [[gnu::noinline]] uint32_t admit_otherwise(PriorityGroupUse& group, QueueUse& queue, uint32_t cells) noexcept;
  [[gnu::noinline]] bool release_otherwise(PriorityGroupUse& group, QueueUse& queue, uint32_t cells) noexcept;
  // The port's use of the pool that the group (queue) uses; null: it has no limit.
  PortUse* port_use_of(const PriorityGroupUse& group) noexcept;
  PortUse* port_use_of(const QueueUse& queue) noexcept;
  bool charge_group(PriorityGroupUse& group, uint32_t cells) noexcept;
  template <typename Use>
  static void charge(Use& use, PortUse* port, uint32_t own, uint32_t shared) noexcept;
  void plan_port_limits(const BufferPlan& plan);
  uint32_t refuse(DropReason reason) noexcept;
  static bool may_clear_xoff(PriorityGroupUse& group) noexcept;
  static bool has_reached_limit(const PriorityGroupUse& group) noexcept {
    return int64_t{group.shared} >= group.limit.of(group.pool->to_give());
  }
  static void set_xoff(PriorityGroupUse& group, bool xoff) noexcept {
    group.xoff = xoff;
    group.watched = xoff || group.credited;
  }
  void plan_group(PriorityGroupUse& group, const PriorityGroupPlan& wanted);
  void plan_slices(const BufferPlan& plan);
  void plan_queue(QueueUse& queue, const QueuePlan& wanted, uint32_t slice);

  // One cache line, to where queues_ begin, is what a packet touches of this.
  CellSize cell_;
  uint32_t ports_;
  bool has_port_limits_ = false;
  bool must_raise_xoff_ = false;
  DropReason refused_for_ = DropReason::kCount;
  bool planned_ = false;
  std::vector<PriorityGroupUse> groups_;  // by port, then group; the last port is the switch itself
  std::vector<QueueUse> queues_;          // by slice, port, queue
  uint32_t slices_ = 1;
  std::vector<PriorityGroupExtremes> extremes_;  // as groups_
  std::vector<PortUse> ingress_ports_;           // by port, then pool; empty: no port has a limit
  std::vector<PortUse> egress_ports_;
  std::vector<PoolUse> ingress_;
  std::vector<PoolUse> egress_;
};

}  // namespace softspine::dataplane
