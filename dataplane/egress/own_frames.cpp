// SPDX-License-Identifier: Apache-2.0
// Egress and its neighbours: frames of flow control that come in, and those it sends.
#include "dataplane/egress/egress.hpp"

namespace softspine::dataplane {

void Egress::receive(PortNo port, const PfcFrame& frame, Instant now) noexcept {
  const uint32_t n = port.value();
  flow_control_.port(n).receive(frame, ports_[n].wire->rate(), now);
  if ((frame.enable & plan_->ports[n].pfc_enabled) != 0) reconsider(n, now);
}

void Egress::receive(PortNo port, const CreditFrame& frame, Instant now) noexcept {
  const uint32_t n = port.value();
  flow_control_.port(n).receive(frame, now);
  hold(n, now);
  kick(n, now);
}

void Egress::make_deaf(PortNo port, uint8_t priorities, Instant now) noexcept {
  flow_control_.port(port.value()).make_deaf(priorities, now);
  reconsider(port.value(), now);
}

void Egress::ignore_pauses(PortNo port, uint8_t priorities, Instant now) noexcept {
  flow_control_.ignore(port.value(), priorities, now);
  reconsider(port.value(), now);
}

void Egress::shut(PortNo port, Priority priority, bool shut, Instant now) noexcept {
  const uint32_t n = port.value();
  const PortQosPlan& plan = plan_->ports[n];
  const auto bit = static_cast<uint8_t>(1U << priority.value());
  for (uint8_t i = 0; i < kQueues; ++i) {
    if ((plan.priorities_of_group[i] & bit) != 0) mmu_.set_group(n, i, plan_->buffer.ports[n].groups[i], shut);
    if ((plan.queues_of_priority[priority.value()] >> i & 1) == 0) continue;
    mmu_.set_queue(n, i, plan_->buffer.ports[n].queues[i], shut);
    if (!shut) continue;
    flush_queue(n, i, now, [&](Packet packet) {
      ports_[n].counters->queues[i].refused(packet.frame_bytes());
      discard(std::move(packet), DropReason::kPfcWatchdog);
    });
  }
  reconsider(n, now);
}

void Egress::link_changed(PortNo port, bool up, Instant now) noexcept {
  const uint32_t n = port.value();
  flow_control_.port(n).link_changed(up, now);
  if (up) return kick(n, now);
  hold(n, now);
  arm(n);
}

void Egress::raise_xoff(uint32_t group, Instant now) noexcept {
  if (flow_control_.raise_xoff(group, now)) kick(group / kPriorities, now);
}

void Egress::clear_xoff(uint32_t group, Instant now) noexcept {
  if (flow_control_.clear_xoff(group, now)) kick(group / kPriorities, now);
}

// A pause or a credit frame. When its last bit has left; never() if there is no memory for it: it is tried again soon.
Instant Egress::start_own_frame(uint32_t number, Instant at) noexcept {
  constexpr Duration kRetry = Duration::us(1);
  EgressPort& port = ports_[number];
  PortFlowControl& flow = flow_control_.port(number);
  port.has_frame = false;
  if (!port.wire->up()) {
    flow.link_changed(false, at);  // nothing was ever plugged in, so nobody has told
    return Instant::never();
  }
  Packet packet = pool_.make(mac_control::kFrameBytes);
  if (!packet) {
    ++port.counters->drops[static_cast<size_t>(DropReason::kNoBuffer)];
    ++port.counters->made_packets;  // the frame that was to be
    flow.defer_frames(at + kRetry);
    arm(number);
    return Instant::never();
  }
  const FlowControlFrame made = flow.make_frame(packet.data(), control_[number].mac, port.wire->rate(), at);
  port.wire_queue = made.kind == FlowControlFrame::Kind::kPfc ? kPfcFrame : kCreditFrame;
  port.has_frame = flow.next_frame() <= at;
  arm(number);
  PacketMeta& meta = packet.meta();
  meta.remark = made.remark;
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
