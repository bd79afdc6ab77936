// SPDX-License-Identifier: Apache-2.0
// Whether a packet may wait at a port, and what memory it is charged to until it has left: the first part of egress.
//
//   admit     the link is up → WRED does not drop it early (early_detection.hpp) → the MMU charges it to its priority
//             group, by the port it came in by, and to its queue (mmu.hpp). Else the reason why not
//   release   its last bit has left, or it ended where it waited: its cells go back
// An admitted packet is counted in its queue, and its meta holds what its departure needs: how many cells it holds
// (cells) and whose (held_by), so that they go back to where they were taken, whatever plan is applied meanwhile; and
// which counter of the port it belongs to (cast). Admission keeps no packet.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/buffer/mmu.hpp"
#include "dataplane/egress/early_detection.hpp"
#include "dataplane/egress/egress_port.hpp"
#include "dataplane/egress/qos_plan.hpp"

namespace softspine::dataplane {

class Admission {
 public:
  // `wred` outlives this. Nothing is admitted before apply().
  Admission(uint32_t ports, EarlyDetection& wred) : mmu_(ports), wred_(wred) {}

  // `plan` must stay valid until the next call.
  void apply(const QosPlan& plan) {
    plan_ = &plan;
    mmu_.apply(plan.buffer);
  }

  // kCount: admitted to `port`, which is out_port of its meta, and its queue there.
  DropReason admit(const EgressPort& port, Packet& packet) noexcept {
    PacketMeta& meta = packet.meta();
    const uint32_t bytes = meta.frame_bytes;
    const uint8_t q = meta.queue;
    QueueCounters& queue = port.counters->queues[q];
    if (!port.wire->up()) [[unlikely]]
      return DropReason::kLinkDown;
    if (port.has_wred && queue.current_bytes + bytes > port.drop_from && wred_.is_dropped_early(packet, queue))
        [[unlikely]]
      return DropReason::kWredDropped;
    const Mmu::Account account{group_of(meta), Mmu::number_of_queue(meta.out_port, q)};
    const uint32_t cells = mmu_.admit(account, bytes);
    if (cells == 0) [[unlikely]] {
      if (is_of_queue(mmu_.refused_for())) queue.refused(bytes);
      return mmu_.refused_for();
    }
    note(packet, account.group, cells, queue);
    return DropReason::kCount;
  }
  // The same for the usual case: neither WRED has a say, nor does anything come of it but that the packet is admitted.
  // False: it is not that case, and nothing has changed. `is_exact`: see Mmu.
  [[gnu::always_inline]] bool admit_usual(const EgressPort& port, Packet& packet, bool is_exact) noexcept {
    const PacketMeta& meta = packet.meta();
    const uint32_t bytes = meta.frame_bytes;
    QueueCounters& queue = port.counters->queues[meta.queue];
    if (!port.wire->up() || (port.has_wred && queue.current_bytes + bytes > port.drop_from)) [[unlikely]]
      return false;
    const Mmu::Account account{group_of(meta), Mmu::number_of_queue(meta.out_port, meta.queue)};
    const uint32_t cells = mmu_.admit_usual(account, bytes, is_exact);
    if (cells == 0) [[unlikely]]
      return false;
    note(packet, account.group, cells, queue);
    return true;
  }
  // Whether the packet takes over all that the frame which has left the port's wire is charged, as Mmu::pass_on() has
  // it, with the frame's place in its queue. False: nothing has changed.
  [[gnu::always_inline]] bool pass_on(const EgressPort& port, const Packet& packet) noexcept {
    const PacketMeta& meta = packet.meta();
    const uint32_t group = group_of(meta);
    if (meta.frame_bytes != port.wire_bytes || meta.queue != port.wire_queue || group != port.wire_held_by)
      return false;
    const QueueCounters& queue = port.counters->queues[meta.queue];
    if (!port.wire->up() || (port.has_wred && queue.current_bytes > port.drop_from)) [[unlikely]]
      return false;
    return mmu_.pass_on({group, Mmu::number_of_queue(meta.out_port, meta.queue)}, port.wire_cells);
  }
  // Called shortly before admit(). Assumes the usual queue, the one that has the traffic class's number.
  [[gnu::always_inline]] void prefetch_for(const PacketMeta& meta) const noexcept {
    mmu_.prefetch_for({Mmu::number_of_pg(meta.in_port, meta.priority_group),
                       Mmu::number_of_queue(meta.out_port, meta.traffic_class)});
  }
  // Whether the packet admitted last made its group raise XOFF. To be called after each packet; returns true once.
  [[gnu::always_inline]] bool must_raise_xoff() noexcept { return mmu_.must_raise_xoff(); }

  // Whether the group that held the cells may have to clear its XOFF, or to grant credit.
  [[gnu::always_inline]] bool release(uint32_t port, uint8_t queue, uint32_t held_by, uint32_t cells) noexcept {
    return mmu_.release({held_by, Mmu::number_of_queue(port, queue)}, cells);
  }

  // For the PFC watchdog. The port's queue and priority group `number`, if they belong to the priority, refuse every
  // frame from now on, or accept frames again. Returns whether the queue was made to refuse.
  bool shut(uint32_t port, uint32_t number, Priority priority, bool shut) noexcept {
    const PortQosPlan& plan = plan_->ports[port];
    const PortBufferPlan& buffer = plan_->buffer.ports[port];
    const uint32_t p = priority.value();
    if ((plan.priorities_of_pg[number] >> p & 1) != 0) mmu_.set_pg(port, number, buffer.groups[number], shut);
    if ((plan.queues_of_priority[p] >> number & 1) == 0) return false;
    mmu_.set_queue(port, number, buffer.queues[number], shut);
    return shut;
  }

  Mmu& mmu() { return mmu_; }
  const Mmu& mmu() const { return mmu_; }

 private:
  [[gnu::always_inline]] static void note(Packet& packet, uint32_t group, uint32_t cells,
                                          QueueCounters& queue) noexcept {
    PacketMeta& meta = packet.meta();
    queue.entered(meta.frame_bytes);
    meta.cells = static_cast<uint16_t>(cells);
    meta.held_by = static_cast<uint16_t>(group);
    meta.cast = cast_of(packet.data());
    meta.remark = Remark::kNone;
  }
  // Frames that the switch makes itself are charged to one more port, after the last.
  uint32_t group_of(const PacketMeta& meta) const noexcept {
    return Mmu::number_of_pg(std::min<uint32_t>(meta.in_port, mmu_.ports()), meta.priority_group);
  }

  Mmu mmu_;
  EarlyDetection& wred_;
  const QosPlan* plan_ = nullptr;
};

}  // namespace softspine::dataplane
