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
// A caller may report releases late (Departures puts them off), while none is reported that changes an XOFF. By one
// plan what is held follows from the sum of cells alone, reserved ones first, so late releases lead to the same state.
// Until they are reported, too many cells count as held: admit_usual() can only refuse then what admit() would take,
// and a watermark or an XOFF is never due because of them: before admit() all releases are reported. exact_only() tells
// when no release may be late: while a group has raised XOFF or goes by credit; after a new plan by which what is held
// would have been charged otherwise; and where ports have limits, since admit_usual() takes nothing then.
//
// Invariants: a pool's use = the sum of its groups' (queues') use; no use is negative; all are 0 when nothing
// is held. Watermarks: the highest use since the start or since they were cleared.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/buffer/buffer_plan.hpp"
#include "dataplane/buffer/memory_use.hpp"
#include "dataplane/buffer/priority_group_counters.hpp"
#include "dataplane/packet/drop_reason.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/prefetch.hpp"

namespace softspine::dataplane {

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
  // reason.
  uint32_t admit(const Account& account, uint32_t frame_bytes) noexcept;
  // The same for the usual case, in which group and queue each take all cells from one memory, their own or the shared,
  // and nothing else comes of it: no XOFF, nor a watermark, unless `is_exact`: no release is late. 0: it is not that
  // case, and nothing has changed.
  [[gnu::always_inline]] uint32_t admit_usual(const Account& account, uint32_t frame_bytes, bool is_exact) noexcept {
    PriorityGroupUse& group = groups_[account.group];
    QueueUse& queue = queue_of(group, account.queue);
    const uint32_t cells = cell_.cells_of(frame_bytes);
    const bool own = has_own(queue, cells);
    const bool fits_queue =
        own || (queue.reserved_left <= 0 && fits(queue, cells) && (is_exact || !is_next_high(queue, cells)));
    if (!fits_queue || has_port_limits_) [[unlikely]]
      return 0;
    // The queue is charged first: registers do not hold what queue and group need at once.
    own ? charge_own(queue, cells) : charge_shared(queue, cells);
    if (has_own(group, cells)) {
      charge_own(group, cells);
    } else if (group.reserved_left <= 0 && stays_below(group, cells) && (is_exact || !is_next_high(group, cells)))
        [[likely]] {
      charge_shared(group, cells);
      if (is_exact) note_watermarks(group);
    } else {
      own ? release_own(queue, cells) : release_shared(queue, cells);
      return 0;
    }
    if (is_exact && !own) note_watermarks(queue);
    ++group.packets;
    return cells;
  }
  // A frame has left that is charged to the account, by a release that is late, and one of as many cells has come for
  // the same account: whether it takes those cells over, in the usual case. False: nothing has changed.
  [[gnu::always_inline]] bool pass_on(const Account& account, uint32_t cells) noexcept {
    PriorityGroupUse& group = groups_[account.group];
    const QueueUse& queue = queue_of(group, account.queue);
    const bool fits_queue = queue.shared == 0 || (queue.shared >= cells && queue.pool->free >= 0 &&
                                                  int64_t{queue.shared} <= limit_with(queue, cells));
    const bool is_below = group.shared == 0 || (group.shared >= cells && group.pool->free >= 0 &&
                                                int64_t{group.shared} < limit_with(group, 0));
    if (!fits_queue || !is_below || is_new_high(queue) || is_new_high(group) || has_port_limits_) [[unlikely]]
      return false;
    ++group.packets;
    return true;
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
    if (is_in_one(queue, cells) && is_in_one(group, cells) && group.headroom == 0 && !group.watched &&
        !has_port_limits_) [[likely]] {
      queue.shared != 0 ? release_shared(queue, cells) : release_own(queue, cells);
      group.shared != 0 ? release_shared(group, cells) : release_own(group, cells);
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
  // Whether each release has to be reported at its instant.
  bool exact_only() const { return xoffs_ != 0 || is_planned_exact_ || has_port_limits_; }
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
  [[gnu::noinline]] bool release_otherwise(PriorityGroupUse& group, QueueUse& queue, uint32_t cells) noexcept;
  // The port's use of the pool that the group (queue) uses; null: it has no limit.
  PortUse* port_use_of(const PriorityGroupUse& group) noexcept;
  PortUse* port_use_of(const QueueUse& queue) noexcept;
  bool charge_group(PriorityGroupUse& group, uint32_t cells) noexcept;
  template <typename Use>
  static void charge(Use& use, PortUse* port, uint32_t own, uint32_t shared) noexcept;
  void plan_port_limits(const BufferPlan& plan);
  uint32_t refuse(DropReason reason) noexcept;
  bool may_clear_xoff(PriorityGroupUse& group) noexcept;
  static bool has_reached_limit(const PriorityGroupUse& group) noexcept {
    return int64_t{group.shared} >= group.limit.of(group.pool->to_give());
  }
  void set_xoff(PriorityGroupUse& group, bool xoff) noexcept {
    if (xoff != group.xoff) xoff ? ++xoffs_ : --xoffs_;
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
  uint32_t xoffs_ = 0;                           // groups that have raised XOFF
  bool is_planned_exact_ = false;                // by the plan, and what was held then
  std::vector<PriorityGroupExtremes> extremes_;  // as groups_
  std::vector<PortUse> ingress_ports_;           // by port, then pool; empty: no port has a limit
  std::vector<PortUse> egress_ports_;
  std::vector<PoolUse> ingress_;
  std::vector<PoolUse> egress_;
};

}  // namespace softspine::dataplane
