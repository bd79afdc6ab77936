// SPDX-License-Identifier: Apache-2.0
// Egress' dealings with its neighbours: pauses and credits that come in, and those it sends.
#include <algorithm>

#include "dataplane/egress/egress.hpp"

namespace softspine::dataplane {

void Egress::receive_pause(PortNo number, const PfcFrame& frame, Instant now) noexcept {
  const uint32_t n = number.value();
  const PortQosPlan& plan = plan_->ports[n];
  PortCounters& counters = *ports_[n].counters;
  for (uint32_t p = 0; p < kPriorities; ++p) counters.pfc_rx_packets[p] += frame.enable >> p & 1;
  PfcFrame obeyed = frame;
  obeyed.enable &= plan.pfc_enabled;
  if (obeyed.enable == 0) return;
  const Rate rate = ports_[n].wire->rate();
  const PauseTiming timing = plan.pfc_response_quanta == 0 ? PauseTiming::of(rate)
                                                           : PauseTiming::with_response(rate, plan.pfc_response_quanta);
  side_[n].pause.receive(obeyed, now, timing.quantum, timing.response);
  take_pauses(n, now);
  hold(n, now);
  kick(n, now);
}

// Which queues are paused at `at`.
void Egress::take_pauses(uint32_t number, Instant at) noexcept {
  Side& side = side_[number];
  const auto priorities = static_cast<uint8_t>(side.pause.advance(at) & ~(side.ignored | side.deaf));
  side.paused = 0;
  for (uint32_t p = 0; p < kPriorities; ++p) {
    if ((priorities >> p & 1) != 0) side.paused |= plan_->ports[number].queues_of_priority[p];
  }
}

void Egress::disobey(PortNo number, uint8_t priorities, Instant now) noexcept {
  const uint32_t n = number.value();
  side_[n].deaf = priorities;
  take_pauses(n, now);
  hold(n, now);
  kick(n, now);
}

void Egress::link_changed(PortNo number, bool up, Instant now) noexcept {
  const uint32_t n = number.value();
  Side& side = side_[n];
  side.credits.restart(up, now);
  if (up) {
    side.pfc.repeat();
    kick(n, now);
    return;
  }
  side.pause.clear(now);
  take_pauses(n, now);
  hold(n, now);
  arm(n);
}

uint8_t Egress::priorities_of(uint16_t in_port, uint8_t group) const noexcept {
  if (in_port >= ports_.size()) return 0;
  const PortQosPlan& plan = plan_->ports[in_port];
  return static_cast<uint8_t>(plan.priorities_of_group[group] & plan.pfc_enabled & ~side_[in_port].ignored);
}

void Egress::stop_sender(uint32_t group, Instant now) noexcept {
  const auto in_port = static_cast<uint16_t>(group / kPriorities);
  const uint8_t priorities = priorities_of(in_port, static_cast<uint8_t>(group % kPriorities));
  if (priorities == 0) return;
  side_[in_port].pfc.stop(priorities);
  kick(in_port, now);
}

void Egress::let_sender_go(uint32_t group, Instant now) noexcept {
  const auto in_port = static_cast<uint16_t>(group / kPriorities);
  if (keeps_credits_ && in_port < ports_.size()) settle_credit(in_port, static_cast<uint8_t>(group % kPriorities), now);
  const uint8_t priorities = priorities_of(in_port, static_cast<uint8_t>(group % kPriorities));
  if (priorities == 0) return;
  side_[in_port].pfc.let_go(priorities);
  kick(in_port, now);
}

CreditPlan Egress::credit_plan(uint32_t number) const noexcept {
  const PortQosPlan& port = plan_->ports[number];
  CreditPlan plan{.priorities = port.credit_enabled, .largest_frame = port.largest_frame, .cell = mmu_.cell()};
  for (uint32_t g = 0; g < kPriorities; ++g) {
    const uint32_t room = std::min(plan_->buffer.ports[number].groups[g].headroom_cells, CreditLink::kMostRoom);
    for (uint32_t p = 0; p < kPriorities; ++p) {
      if ((port.priorities_of_group[g] >> p & 1) != 0) plan.room[p] = static_cast<uint16_t>(room);
    }
  }
  return plan;
}

void Egress::took_in(PortNo port, uint8_t group, uint32_t frame_bytes, Instant now) noexcept {
  if (port.value() >= ports_.size()) return;
  CreditLink& credits = side_[port.value()].credits;
  if (!credits.in_use()) return;
  const uint8_t priorities = plan_->ports[port.value()].priorities_of_group[group];
  for (uint8_t p = 0; p < kPriorities; ++p) {
    if ((priorities >> p & 1) != 0) credits.received(p, frame_bytes);
  }
  settle_credit(port.value(), group, now);
}

// What a group holds has changed.
void Egress::settle_credit(uint32_t number, uint8_t group, Instant now) noexcept {
  CreditLink& credits = side_[number].credits;
  if (!credits.in_use()) return;
  const bool told = !credits.has_news();
  for (uint8_t p = 0; p < kPriorities; ++p) {
    const bool is_its = (plan_->ports[number].priorities_of_group[group] >> p & 1) != 0;
    if (is_its) credits.holds(p, mmu_.group(number, group).held(), now);
  }
  if (told && credits.has_news()) kick(number, now);
}

void Egress::receive_credit(PortNo port, const CreditFrame& frame, Instant now) noexcept {
  const uint32_t n = port.value();
  side_[n].credits.hear(frame, now);
  hold(n, now);
  kick(n, now);
}

void Egress::write_pause(uint32_t number, Packet& packet, Instant at) noexcept {
  Port& port = ports_[number];
  Side& side = side_[number];
  packet.meta().remark = side.pfc.news();
  const PfcFrame frame = side.pfc.say(at, pause_quantum(port.wire->rate()));
  write_pfc(packet.data(), side.mac, frame);
  for (uint32_t p = 0; p < kPriorities; ++p) port.counters->pfc_tx_packets[p] += frame.enable >> p & 1;
  port.wire_queue = kPfcFrame;
}

void Egress::write_credits(uint32_t number, Packet& packet) noexcept {
  Side& side = side_[number];
  packet.meta().remark = Remark::kNone;
  write_credit(packet.data(), side.mac, side.credits.say());
  ports_[number].wire_queue = kCreditFrame;
}

// A pause or a credit frame. When its last bit has left; never() if there is no memory for it: it is tried again soon.
Instant Egress::start_own_frame(uint32_t number, Instant at) noexcept {
  constexpr Duration kRetry = Duration::us(1);
  Port& port = ports_[number];
  Side& side = side_[number];
  port.has_news = false;
  if (!port.wire->up()) return Instant::never();
  Packet packet = pool_.make(mac_control::kFrameBytes);
  if (!packet) {
    ++port.counters->drops[static_cast<size_t>(DropReason::kNoBuffer)];
    ++port.counters->made_packets;  // the frame that was to be
    side.retry_at = at + kRetry;
    arm(number);
    return Instant::never();
  }
  side.pfc.has_news() ? write_pause(number, packet, at) : write_credits(number, packet);
  port.has_news = side.credits.has_news();
  arm(number);
  PacketMeta& meta = packet.meta();
  meta.frame_bytes = mac_control::kFrameBytes;
  meta.in_port = kLocalPort;
  meta.out_port = static_cast<uint16_t>(number);
  meta.at = at;
  meta.born = at;
  port.wire_bytes = mac_control::kFrameBytes;
  port.wire_cast = Cast::kMulticast;
  return port.wire->send(std::move(packet), at);
}

}  // namespace softspine::dataplane
