// SPDX-License-Identifier: Apache-2.0
// Egress' dealings with pauses: those that come in, and those it sends.
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
  const uint8_t priorities = priorities_of(in_port, static_cast<uint8_t>(group % kPriorities));
  if (priorities == 0) return;
  side_[in_port].pfc.let_go(priorities);
  kick(in_port, now);
}

// When its last bit has left; never() if there is no packet to make it of: it is tried again soon.
Instant Egress::start_pause_frame(uint32_t number, Instant at) noexcept {
  constexpr Duration kRetry = Duration::us(1);
  Port& port = ports_[number];
  Side& side = side_[number];
  port.has_news = false;
  if (!port.wire->up()) return Instant::never();
  Packet packet = pool_.make(pfc::kFrameBytes);
  if (!packet) {
    ++port.counters->drops[static_cast<size_t>(DropReason::kNoBuffer)];
    ++port.counters->made_packets;  // the frame that was to be
    side.retry_at = at + kRetry;
    arm(number);
    return Instant::never();
  }
  const Remark remark = side.pfc.news();
  const PfcFrame frame = side.pfc.say(at, pause_quantum(port.wire->rate()));
  arm(number);
  write_pfc(packet.data(), side.mac, frame);
  PacketMeta& meta = packet.meta();
  meta.frame_bytes = pfc::kFrameBytes;
  meta.in_port = kLocalPort;
  meta.out_port = static_cast<uint16_t>(number);
  meta.at = at;
  meta.born = at;
  meta.remark = remark;
  for (uint32_t p = 0; p < kPriorities; ++p) port.counters->pfc_tx_packets[p] += frame.enable >> p & 1;
  port.wire_bytes = pfc::kFrameBytes;
  port.wire_queue = kPfcFrame;
  port.wire_cast = Cast::kMulticast;
  return port.wire->send(std::move(packet), at);
}

}  // namespace softspine::dataplane
