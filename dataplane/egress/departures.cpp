// SPDX-License-Identifier: Apache-2.0
#include "dataplane/egress/departures.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "dataplane/packet/telemetry_writer.hpp"

namespace softspine::dataplane {

namespace {

// The packet that begins to leave is charged to its queue, and waits no longer.
void write_telemetry(const EgressPort& port, Packet& packet, Instant at) noexcept {
  const std::optional<uint8_t> rate = telemetry::code_of(port.wire->rate());
  if (!rate) return;
  const PortCounters& counters = *port.counters;
  uint64_t waiting = 0;
  for (const QueueCounters& queue : counters.queues) waiting += queue.current_bytes;
  const uint64_t sent = counters.tx_bytes + counters.tx_packets * kWireOverheadBytes;
  add_telemetry(packet, telemetry::hop_of(*rate, at, sent, waiting - packet.frame_bytes()));
}

}  // namespace

Departures::Departures(Node& node, std::vector<PortCounters>& counters, const Parts& parts)
    : ports_(std::make_unique<EgressPort[]>(node.ports())),
      put_off_(node.ports()),
      count_(static_cast<uint16_t>(node.ports())),
      control_(node.ports()),
      flow_control_(parts.flow_control),
      wred_(parts.wred),
      timers_(parts.timers),
      pool_(parts.pool) {
  busy_.reserve(node.ports());
  for (uint16_t i = 0; i < count_; ++i) {
    ports_[i].wire = &node.transmitter(PortNo{i});
    ports_[i].counters = &counters[i];
  }
}

void Departures::apply(const QosPlan& plan, const MacAddress& router) noexcept {
  for (uint32_t i = 0; i < count_; ++i) {
    control_[i].mac = plan.ports[i].mac == MacAddress{} ? router : plan.ports[i].mac;
    plan_port(i, plan);
  }
}

void Departures::plan_port(uint32_t number, const QosPlan& plan) noexcept {
  const PortQosPlan& wanted = plan.ports[number];
  EgressPort& port = ports_[number];
  PortControl& control = control_[number];
  control.scheduler.plan(wanted);
  port.strict = 0;
  port.mark_from = UINT32_MAX;
  port.drop_from = UINT32_MAX;
  for (uint32_t q = 0; q < kQueues; ++q) {
    const QueueSchedule& queue = wanted.queues[q];
    port.strict |= static_cast<uint8_t>(queue.strict << q);
    port.mark_from = std::min(port.mark_from, plan.wred[queue.wred].mark.min_bytes);
    port.drop_from = std::min(port.drop_from, plan.wred[queue.wred].drop.min_bytes);
  }
  port.charges = control.scheduler.shapes() || wanted.credit_enabled != 0;
  port.writes_telemetry = plan.in_band_telemetry;
  port.does_more = port.charges || port.writes_telemetry;
  port.has_wred = std::min(port.mark_from, port.drop_from) != UINT32_MAX;
}

Instant Departures::send_with_more(EgressPort& port, uint8_t q, Packet packet, Instant at) noexcept {
  if (port.writes_telemetry) write_telemetry(port, packet, at);
  port.wire_left = port.wire->send(std::move(packet), at);
  if (port.charges) charge(port, q, at, port.wire_left);
  return port.wire_left;
}

void Departures::charge(EgressPort& port, uint8_t q, Instant at, Instant left) noexcept {
  const auto number = static_cast<uint32_t>(&port - ports_.get());
  control_[number].scheduler.charge(q, port.wire_bytes, at);
  flow_control_.charge(number, q, port.wire_bytes, at);
  hold(number, left);
  arm(number);
}

void Departures::hold(uint32_t number, Instant at) noexcept {
  PortControl& control = control_[number];
  control.blocked = flow_control_.blocked_queues(number);
  ports_[number].held = control.scheduler.hold(at) | control.blocked;
  if (control.tx_disabled) ports_[number].held = 0xff;
}

void Departures::put_off_departures(bool may) noexcept {
  if (puts_off_ == may) return;
  puts_off_ = may;
  if (may) return;
  for (uint32_t i = 0; i < count_; ++i) {
    if (ports_[i].put_off) await(ports_[i], i);
  }
}

Instant Departures::first_put_off() const noexcept {
  Instant first = Instant::never();
  put_off_.for_each([&](uint32_t number) {
    if (ports_[number].busy) first = std::min(first, ports_[number].wire_left);
  });
  return first;
}

void Departures::kick(uint32_t number, Instant at) noexcept {
  EgressPort& port = ports_[number];
  port.has_frame = flow_control_.port(number).next_frame() <= at;
  if (port.put_off) await(port, number);
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

void Departures::tell_leaving(uint32_t number) noexcept {
  const EgressPort& port = ports_[number];
  if (port.busy && port.wire_queue < kCreditFrame) flow_control_.leaves(number, port.wire_queue, port.wire_left);
}

void Departures::reconsider(uint32_t number, Instant at) noexcept {
  tell_leaving(number);
  (void)flow_control_.port(number).advance(at);
  hold(number, at);
  kick(number, at);
}

void Departures::arm(uint32_t number) noexcept {
  const PortFlowControl& flow = flow_control_.port(number);
  Instant at = std::min(flow.next_change(), control_[number].scheduler.opens());
  if (!ports_[number].has_frame) at = std::min(at, flow.next_frame());  // else it goes when the wire is free
  timers_.set(number, at);
}

// A PFC or credit frame. Returns when its last bit has left; never() if it cannot go: the port is down, or there is no
// memory for it.
Instant Departures::start_own_frame(uint32_t number, Instant at) noexcept {
  constexpr Duration kRetry = Duration::us(1);
  EgressPort& port = ports_[number];
  PortFlowControl& flow = flow_control_.port(number);
  port.has_frame = false;
  if (!port.wire->up()) {
    flow.link_changed(false, at);  // nothing was ever plugged in, so no change was reported
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
  const FlowControlFrame made =
      flow.make_frame(packet.data(), control_[number].mac, port.wire->rate(), port.wire->propagation(), at);
  port.wire_queue = made.kind == FlowControlFrame::Kind::kPfc ? kPfcFrame : kCreditFrame;
  port.has_frame = flow.next_frame() <= at;
  arm(number);
  PacketMeta& meta = packet.meta();
  meta.remark = made.remark;
  meta.frame_bytes = mac_control::kFrameBytes;
  meta.in_port = kLocalPort;
  meta.out_port = static_cast<uint16_t>(number);
  meta.at = at;
  port.wire_bytes = mac_control::kFrameBytes;
  port.wire_cast = Cast::kMulticast;
  return port.wire->send(std::move(packet), at);
}

}  // namespace softspine::dataplane
