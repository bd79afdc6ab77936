// SPDX-License-Identifier: Apache-2.0
#include "dataplane/egress/egress.hpp"

#include <algorithm>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

Egress::Egress(Node& node, std::vector<PortCounters>& counters, PacketPool& pool, Rng& rng)
    : ports_(node.ports()), mmu_(node.ports()), side_(node.ports()), pool_(pool), rng_(rng) {
  busy_.reserve(node.ports());
  for (uint16_t i = 0; i < ports_.size(); ++i) {
    ports_[i].wire = &node.transmitter(PortNo{i});
    ports_[i].counters = &counters[i];
  }
}

void Egress::apply(std::shared_ptr<const QosPlan> plan, const MacAddress& router, Instant now) {
  SOFTSPINE_CHECK(plan->ports.size() == ports_.size(), plan->ports.size(), ports_.size());
  if (plan_ != nullptr) end_otherwise_watched(*plan, now);
  plan_ = std::move(plan);
  mmu_.apply(plan_->buffer);
  for (uint32_t i = 0; i < ports_.size(); ++i) {
    side_[i].mac = plan_->ports[i].mac == MacAddress{} ? router : plan_->ports[i].mac;
    plan_port(i);
  }
  keeps_credits_ = std::ranges::any_of(plan_->ports, [](const PortQosPlan& port) { return port.credit_enabled != 0; });
  for (uint16_t i = 0; i < ports_.size(); ++i) {
    for (uint8_t g = 0; g < kPriorities; ++g) {
      if (mmu_.settle(i, g)) let_sender_go(Mmu::number_of_group(i, g), now);
    }
    const auto not_ours = static_cast<uint8_t>(side_[i].pfc.stopped() & ~plan_->ports[i].pfc_enabled);
    side_[i].pfc.let_go(not_ours);
    hold(i, now);
    kick(i, now);
    plan_credit(i, now);
  }
  arm_watchdogs(now);
}

void Egress::plan_port(uint32_t number) {
  const PortQosPlan& wanted = plan_->ports[number];
  Port& port = ports_[number];
  Side& side = side_[number];
  side.turns.plan(wanted.queues);
  port.strict = 0;
  for (uint32_t q = 0; q < kQueues; ++q) port.strict |= static_cast<uint8_t>(wanted.queues[q].strict << q);
  side.port_shaper.set(wanted.shaper.rate, wanted.shaper.burst_bytes);
  side.shaper_held = 0;
  port.charges = side.port_shaper.shapes() || wanted.credit_enabled != 0;
  port.mark_from = UINT32_MAX;
  port.drop_from = UINT32_MAX;
  for (uint32_t q = 0; q < kQueues; ++q) {
    const QueueSchedule& queue = wanted.queues[q];
    side.queue_shapers[q].set(queue.shaper.rate, queue.shaper.burst_bytes);
    port.charges |= side.queue_shapers[q].shapes();
    port.mark_from = std::min(port.mark_from, plan_->wred[queue.wred].mark.min_bytes);
    port.drop_from = std::min(port.drop_from, plan_->wred[queue.wred].drop.min_bytes);
  }
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

void Egress::mark(Port& port, uint8_t q, Packet& packet) noexcept {
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

void Egress::charge(Port& port, uint8_t q, Instant at, Instant left) noexcept {
  const auto number = static_cast<uint32_t>(&port - ports_.data());
  Side& side = side_[number];
  Shaper& queue = side.queue_shapers[q];
  if (queue.shapes()) queue.sent(port.wire_bytes, at);
  if (side.port_shaper.shapes()) side.port_shaper.sent(port.wire_bytes, at);
  if (side.credits.in_use()) {
    for (uint8_t p = 0; p < kPriorities; ++p) {
      if ((plan_->ports[number].queues_of_priority[p] >> q & 1) != 0) side.credits.sent(p, port.wire_bytes, at);
    }
  }
  hold(number, left);
  arm(number);
}

// Which queues may not send at `at`, for whatever reason.
void Egress::hold(uint32_t number, Instant at) noexcept {
  Port& port = ports_[number];
  Side& side = side_[number];
  side.shaper_held = 0;
  if (port.charges) {
    for (uint32_t q = 0; q < kQueues; ++q) {
      const Shaper& shaper = side.queue_shapers[q];
      if (shaper.shapes() && shaper.eligible() > at) side.shaper_held |= static_cast<uint8_t>(1U << q);
    }
    if (side.port_shaper.shapes() && side.port_shaper.eligible() > at) side.shaper_held = 0xff;
  }
  side.starved = 0;
  for (unsigned left = side.credits.starved(); left != 0; left &= left - 1) {
    side.starved |= plan_->ports[number].queues_of_priority[static_cast<size_t>(std::countr_zero(left))];
  }
  port.held = side.shaper_held | side.paused | side.starved;
}

// It is told by a timer: before the first window nothing can be sent.
void Egress::plan_credit(uint32_t number, Instant now) noexcept {
  Side& side = side_[number];
  side.credits.plan(credit_plan(number), now);
  if (!side.credits.in_use()) return;
  side.retry_at = now;
  hold(number, now);
  arm(number);
}

// If the wire is free: what may go starts.
void Egress::kick(uint32_t number, Instant at) noexcept {
  Port& port = ports_[number];
  port.has_news = side_[number].pfc.has_news() || side_[number].credits.has_news();
  if (!port.busy && port.has_news) {
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

// The port's next timer, as it should stand in the heap.
void Egress::arm(uint32_t number) noexcept {
  Side& side = side_[number];
  Instant at = std::min({side.pause.next_change(), side.pfc.refresh_at(), side.credits.ask_at(), side.retry_at});
  if (side.shaper_held != 0) {
    Instant opens = side.port_shaper.shapes() ? side.port_shaper.eligible() : Instant{};
    Instant queues = Instant::never();
    for (uint32_t q = 0; q < kQueues; ++q) {
      const Shaper& shaper = side.queue_shapers[q];
      if ((side.shaper_held >> q & 1) == 0) continue;
      queues = std::min(queues, shaper.shapes() ? shaper.eligible() : Instant{});
    }
    opens = std::max(opens, queues);
    at = std::min(at, opens);
  }
  if (at == side.timer_at) return;
  if (!side.timer_at.is_never()) timers_.remove(number);
  side.timer_at = at;
  if (!at.is_never()) timers_.push(at, number);
}

void Egress::fire() noexcept {
  const uint32_t number = timers_.top_id();
  const Instant at = timers_.next();
  if (number == ports_.size()) return poll_watchdogs(at);
  Side& side = side_[number];
  timers_.pop();
  side.timer_at = Instant::never();
  if (side.retry_at <= at) side.retry_at = Instant::never();
  if (side.pfc.refresh_at() <= at) side.pfc.repeat();
  if (side.credits.ask_at() <= at) side.credits.ask(at);
  take_pauses(number, at);
  hold(number, at);
  kick(number, at);
}

void Egress::forget(Port& port, uint32_t number, uint8_t q, const Packet& packet, Instant now) noexcept {
  const PacketMeta& meta = packet.meta();
  QueueCounters& counters = port.counters->queues[q];
  --counters.current_packets;
  counters.current_bytes -= meta.frame_bytes;
  const bool may_go = mmu_.release({meta.held_by, Mmu::number_of_queue(number, q)}, meta.cells);
  if (may_go && !draining_) let_sender_go(meta.held_by, now);
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
