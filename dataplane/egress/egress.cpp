// SPDX-License-Identifier: Apache-2.0
#include "dataplane/egress/egress.hpp"

#include <algorithm>
#include <utility>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

Egress::Egress(Node& node, std::vector<PortCounters>& counters, PacketPool& pool, Rng& rng)
    : ports_(node.ports()),
      mmu_(node.ports()),
      flow_control_(node.ports(), mmu_),
      watchdogs_(*this, node.ports()),
      control_(node.ports()),
      pool_(pool),
      rng_(rng) {
  busy_.reserve(node.ports());
  for (uint16_t i = 0; i < ports_.size(); ++i) {
    ports_[i].wire = &node.transmitter(PortNo{i});
    ports_[i].counters = &counters[i];
  }
}

void Egress::apply(std::shared_ptr<const QosPlan> plan, const MacAddress& router, Instant now) {
  SOFTSPINE_CHECK(plan->ports.size() == ports_.size(), plan->ports.size(), ports_.size());
  if (plan_ != nullptr) watchdogs_.end_otherwise_watched(*plan, now);
  const std::shared_ptr<const QosPlan> last = std::exchange(plan_, std::move(plan));  // flow control still has it
  mmu_.apply(plan_->buffer);
  for (uint32_t i = 0; i < ports_.size(); ++i) {
    control_[i].mac = plan_->ports[i].mac == MacAddress{} ? router : plan_->ports[i].mac;
    plan_port(i);
  }
  flow_control_.apply(*plan_, now);
  for (uint16_t i = 0; i < ports_.size(); ++i) {
    for (uint8_t g = 0; g < kPriorities; ++g) {
      if (mmu_.reconsider_xoff(i, g)) clear_xoff(Mmu::number_of_group(i, g), now);
    }
    hold(i, now);
    // Credit frames wait for the port's timer: before the first window nothing can be sent.
    flow_control_.port(i).goes_by_credit() ? arm(i) : kick(i, now);
  }
  arm_watchdogs(now);
}

void Egress::plan_port(uint32_t number) {
  const PortQosPlan& wanted = plan_->ports[number];
  EgressPort& port = ports_[number];
  PortControl& control = control_[number];
  control.scheduler.plan(wanted);
  port.strict = 0;
  port.mark_from = UINT32_MAX;
  port.drop_from = UINT32_MAX;
  for (uint32_t q = 0; q < kQueues; ++q) {
    const QueueSchedule& queue = wanted.queues[q];
    port.strict |= static_cast<uint8_t>(queue.strict << q);
    port.mark_from = std::min(port.mark_from, plan_->wred[queue.wred].mark.min_bytes);
    port.drop_from = std::min(port.drop_from, plan_->wred[queue.wred].drop.min_bytes);
  }
  port.charges = control.scheduler.shapes() || wanted.credit_enabled != 0;
  port.has_wred = std::min(port.mark_from, port.drop_from) != UINT32_MAX;
}

bool Egress::is_dropped_early(const Packet& packet, uint64_t queue_bytes) noexcept {
  const PacketMeta& meta = packet.meta();
  const PortQosPlan& port = plan_->ports[meta.out_port];
  const bool is_ip = (meta.flags & (kIsIpv4 | kIsIpv6)) != 0;
  if (is_ip && (meta.dscp_ecn & 3) != 0) return false;  // it can be marked
  const WredLine& line = plan_->wred[port.queues[meta.queue].wred].drop;
  if (!line.hits(queue_bytes + meta.frame_bytes, rng_)) return false;
  ports_[meta.out_port].counters->queues[meta.queue].refused(meta.frame_bytes);
  return true;
}

void Egress::mark(EgressPort& port, uint8_t q, Packet& packet) noexcept {
  PacketMeta& meta = packet.meta();
  constexpr uint8_t kCe = 3;
  const uint8_t ecn = meta.dscp_ecn & kCe;
  if (ecn == 0 || ecn == kCe || (meta.flags & (kIsIpv4 | kIsIpv6)) == 0) return;
  QueueCounters& queue = port.counters->queues[q];
  const WredLine& line = plan_->wred[plan_->ports[meta.out_port].queues[q].wred].mark;
  if (!line.hits(queue.current_bytes, rng_)) return;
  meta.dscp_ecn |= kCe;
  meta.remark = Remark::kCeMarked;
  uint8_t* l3 = packet.data() + meta.l3_offset;
  if ((meta.flags & kIsIpv4) != 0) {
    replace_tos(l3, meta.dscp_ecn);
  } else {
    l3[1] |= kCe << 4;  // the traffic class' low bits: 4 to 7 of the second byte
  }
  ++queue.ecn_marked_packets;
}

void Egress::charge(EgressPort& port, uint8_t q, Instant at, Instant left) noexcept {
  const auto number = static_cast<uint32_t>(&port - ports_.data());
  control_[number].scheduler.charge(q, port.wire_bytes, at);
  flow_control_.charge(number, q, port.wire_bytes, at);
  hold(number, left);
  arm(number);
}

// Which queues may not send at `at`, for whatever reason. Flow control counts as it was last applied: `at` may lie
// ahead.
void Egress::hold(uint32_t number, Instant at) noexcept {
  PortControl& control = control_[number];
  control.blocked = flow_control_.blocked_queues(number);
  ports_[number].held = control.scheduler.hold(at) | control.blocked;
}

// If the wire is free: what may go starts.
void Egress::kick(uint32_t number, Instant at) noexcept {
  EgressPort& port = ports_[number];
  port.has_frame = flow_control_.port(number).next_frame() <= at;
  if (!port.busy && port.has_frame) {
    const Instant left = start_own_frame(number, at);
    if (!left.is_never()) {
      port.busy = true;
      busy_.push(left, number);
    }
  }
  const auto ready = static_cast<uint8_t>(port.waiting & ~port.held);
  if (!port.busy && ready != 0) {
    port.busy = true;
    busy_.push(start_next(port, number, ready, at), number);
  }
  arm(number);
}

// Something has changed that blocks queues, or no longer does.
void Egress::reconsider(uint32_t number, Instant at) noexcept {
  (void)flow_control_.port(number).advance(at);
  hold(number, at);
  kick(number, at);
}

// The port's next timer, as it should stand in the heap.
void Egress::arm(uint32_t number) noexcept {
  PortControl& control = control_[number];
  const PortFlowControl& flow = flow_control_.port(number);
  Instant at = std::min(flow.next_change(), control.scheduler.opens());
  if (!ports_[number].has_frame) at = std::min(at, flow.next_frame());  // else it goes when the wire is free
  if (at == control.timer_at) return;
  if (!control.timer_at.is_never()) timers_.remove(number);
  control.timer_at = at;
  if (!at.is_never()) timers_.push(at, number);
}

// As it should stand in the heap of timers, behind the ports.
void Egress::arm_watchdogs(Instant now) noexcept {
  const auto id = static_cast<uint32_t>(ports_.size());
  timers_.remove(id);
  if (PfcWatchdogs::are_needed(*plan_)) timers_.push(now + plan_->watchdog_poll, id);
}

void Egress::fire() noexcept {
  const uint32_t number = timers_.top_id();
  const Instant at = timers_.next();
  if (number == ports_.size()) {
    timers_.replace_top(at + plan_->watchdog_poll);
    return watchdogs_.poll(at);
  }
  timers_.pop();
  control_[number].timer_at = Instant::never();
  reconsider(number, at);
}

void Egress::forget(EgressPort& port, uint32_t number, uint8_t q, const Packet& packet, Instant now) noexcept {
  const PacketMeta& meta = packet.meta();
  QueueCounters& counters = port.counters->queues[q];
  --counters.current_packets;
  counters.current_bytes -= meta.frame_bytes;
  const bool may_go = mmu_.release({meta.held_by, Mmu::number_of_queue(number, q)}, meta.cells);
  if (may_go && !draining_) clear_xoff(meta.held_by, now);
}

void Egress::discard(Packet packet, DropReason reason) noexcept {
  const PacketMeta& meta = packet.meta();
  const uint16_t home = meta.in_port != kLocalPort ? meta.in_port : meta.out_port;
  ++ports_[home].counters->drops[static_cast<size_t>(reason)];
  ports_[home].counters->ended_flow_packets += packet.is_of_flow() ? 1 : 0;
  PacketPool::release(std::move(packet));
}

void Egress::drain() noexcept {
  draining_ = true;
  for (uint16_t i = 0; i < ports_.size(); ++i) {
    flush(PortNo{i}, Instant{}, [](Packet packet) { PacketPool::release(std::move(packet)); });
  }
}

}  // namespace softspine::dataplane
