// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/roce_host.hpp"

#include <algorithm>
#include <bit>

#include "dataplane/units/check.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

constexpr Duration kRetry = Duration::us(1);  // the run ends before

}  // namespace

RoceHost::RoceHost(const HostConfig& config, PacketPool& pool)
    : Node(config.name, config.ports), config_(config), pool_(pool), responder_(config), ports_(config.ports) {
  SOFTSPINE_CHECK(wrong_with(config).empty(), config.ports, config.mtu);
  SOFTSPINE_CHECK(pool.room_bytes() >= kHostPacketBytes, pool.room_bytes(), kHostPacketBytes);
  static_assert(kHostPacketBytes >= kAdvertisementBytes);
  for (uint16_t p = 0; p < config.ports; ++p) plan_flow_control(PortNo{p}, Instant{});
}

uint32_t RoceHost::add_flow(const FlowConfig& config) {
  const auto index = flow_count();
  QpTable::Entry& entry = queue_pairs_.insert(config.source_qp);
  SOFTSPINE_CHECK(entry.flow == QpTable::kNone, config.source_qp, config.id);
  entry.flow = index;
  const bool is_reliable = config.transport == TransportKind::kReliable;
  flows_.push_back({.transport = OpenLoop{config},
                    .first_template = static_cast<uint32_t>(templates_.size()),
                    .sender = is_reliable ? static_cast<uint32_t>(senders_.size()) : QpTable::kNone,
                    .port = config.port,
                    .priority_bit = static_cast<uint8_t>(1U << config_.priority_of_dscp[config.dscp]),
                    .counters = {.id = config.id, .qp = config.source_qp}});
  if (is_reliable) {
    const Rate line = transmitter(config.port).rate();
    SOFTSPINE_CHECK(!line.is_zero(), config.id, config.port.value());
    senders_.emplace_back(index, config, line);
    timers_.reserve(senders_.size());
  }
  for (const FrameTemplate& frame : templates_of(config_, config)) templates_.push_back(frame);
  HostPort& port = ports_[config.port.value()];
  port.make_room();
  port.order.add(index, config.start, Instant::at_ps(-1));
  return index;
}

uint32_t RoceHost::add_sink(const SinkConfig& config) {
  const auto index = sink_count();
  QpTable::Entry& entry = queue_pairs_.insert(config.qp);
  SOFTSPINE_CHECK(entry.sink == QpTable::kNone, config.qp, config.id);
  entry.sink = index;
  sinks_.emplace_back(config.id, config.qp, config.first_psn, group_number(config.latency_group));
  if (config.source_qp != 0) {
    entry.answering = static_cast<uint32_t>(answering_.size());
    answering_.push_back({.frames = ResponseTemplate{config_, config},
                          .notification = {},
                          .cnp_interval = config.cnp_interval,
                          .ack_priority = config_.priority_of_dscp[config.ack_dscp],
                          .cnp_priority = config_.priority_of_dscp[config.cnp_dscp],
                          .is_reliable = config.transport == TransportKind::kReliable});
  }
  return index;
}

uint32_t RoceHost::group_number(uint32_t group) {
  const auto found = std::ranges::find(latencies_, group, &LatencyGroup::group);
  if (found != latencies_.end()) return static_cast<uint32_t>(found - latencies_.begin());
  latencies_.push_back({.group = group, .latency_ps = {}});
  return static_cast<uint32_t>(latencies_.size() - 1);
}

Histogram RoceHost::latency() const {
  Histogram all;
  for (const LatencyGroup& each : latencies_) all.merge(each.latency_ps);
  return all;
}

Instant RoceHost::departure(PortNo port) const {
  return transmitter(port).up() ? ports_[port.value()].departure() : Instant::never();
}

PortNo RoceHost::first_port() const {
  if (ports_.size() == 1) return PortNo{0};
  return departure(PortNo{1}) < departure(PortNo{0}) ? PortNo{1} : PortNo{0};
}

Instant RoceHost::run(Instant until) noexcept {
  for (;;) {
    const PortNo port = first_port();
    const Instant leaves = departure(port);
    const Instant arrives = inbox().next();
    const Instant due = std::min(timers_.next(), buffer_due_);
    const Instant first = std::min(std::min(leaves, arrives), due);
    if (first >= until) return first;
    if (due == first) [[unlikely]] {
      timers_.next() <= due ? expire(due) : drain_buffers(due);
    } else if (leaves <= arrives) {
      depart(port, leaves);
    } else {
      receive(inbox().take_first());
    }
  }
}

void RoceHost::depart(PortNo port, Instant now) noexcept {
  HostPort& out = ports_[port.value()];
  if (out.beside <= now) [[unlikely]]
    return depart_beside(port, out, now);
  send_segment(out, now);
}

// One thing, the first of: a PFC frame, a credit frame, a pause that has changed, a control packet.
void RoceHost::depart_beside(PortNo port, HostPort& out, Instant now) noexcept {
  if (out.flow_control.next_frame() <= now) {
    send_own_frame(port, out, now);
  } else if (out.flow_control.next_change() <= now) {
    out.reconsider(now);
    return;
  } else {
    ++counters_.answers_sent;
    Packet packet = out.control.take(out.flow_control.blocked(), now);
    packet.meta().born = now;
    if (out.flow_control.goes_by_credit()) out.flow_control.sent(priority_of(packet), packet.frame_bytes(), now);
    out.free_at = transmitter(port).send(std::move(packet), now);
  }
  out.find_next();
}

// A PFC or a credit frame. Without memory for it the port tries again a little later.
void RoceHost::send_own_frame(PortNo port, HostPort& out, Instant now) noexcept {
  Packet packet = pool_.make(mac_control::kFrameBytes);
  if (!packet) [[unlikely]] {
    out.free_at = now + kRetry;
    return;
  }
  packet.meta().born = now;
  const FlowControlFrame made = out.flow_control.make_frame(packet.data(), config_.mac, transmitter(port).rate(), now);
  if (made.kind == FlowControlFrame::Kind::kPfc) ++counters_.pauses_sent;
  out.free_at = transmitter(port).send(std::move(packet), now);
}

void RoceHost::send_segment(HostPort& out, Instant now) noexcept {
  const uint32_t index = out.order.take(now);
  Flow& flow = flows_[index];
  if ((out.flow_control.advance(now) & flow.priority_bit) != 0) [[unlikely]]
    return out.park(index);
  if (flow.sender != QpTable::kNone) return send_reliable(out, index, now);
  const OpenLoop::Segment segment = flow.transport.next();
  const FrameTemplate& frame = templates_[flow.first_template + static_cast<uint32_t>(segment.part)];
  if (!transmit(out, flow, frame, segment.psn, false, now)) [[unlikely]]
    return out.order.add(index, now, now);
  flow.counters.messages += flow.transport.sent(now, out.free_at, frame.interval());
  const Instant eligible = flow.transport.eligible();
  if (!eligible.is_never()) out.order.add(index, eligible, now);
}

void RoceHost::send_reliable(HostPort& out, uint32_t index, Instant now) noexcept {
  Flow& flow = flows_[index];
  ReliableSender& sender = senders_[flow.sender];
  Instant eligible = sender.eligible(now);
  if (eligible <= now) {
    const ReliableSender::Segment segment = sender.next();
    const FrameTemplate& frame = templates_[flow.first_template + static_cast<uint32_t>(segment.part)];
    if (!transmit(out, flow, frame, segment.psn, segment.asks, now)) [[unlikely]]
      return out.order.add(index, now, now);
    const uint32_t wire_bytes = std::max(frame.frame_bytes(), kMinFrameBytes) + kWireOverheadBytes;
    const uint64_t retransmitted = flow.counters.retransmitted;
    flow.counters.messages += sender.sent(now, out.free_at, wire_bytes, flow.counters);
    if (flow.counters.retransmitted != retransmitted) flow.counters.retransmitted_bytes += frame.payload_bytes();
    arm(flow.sender);
    eligible = sender.eligible(now);
  }
  sender.stands_in_order = !eligible.is_never();
  if (sender.stands_in_order) out.order.add(index, eligible, now);
}

// False if there is no memory: then the port tries again a little later.
[[gnu::always_inline]] inline bool RoceHost::transmit(HostPort& out, Flow& flow, const FrameTemplate& frame,
                                                      uint32_t psn, bool asks, Instant now) noexcept {
  Packet packet = pool_.make(frame.stored_bytes());
  if (!packet) [[unlikely]] {
    out.free_at = now + kRetry;
    return false;
  }
  frame.write(packet.data(), psn, static_cast<uint16_t>(flow.counters.packets), asks);
  packet.meta().frame_bytes = frame.frame_bytes();
  packet.meta().born = now;
  packet.set_flow(flow.counters.id);
  out.free_at = transmitter(flow.port).send(std::move(packet), now);
  if (out.flow_control.goes_by_credit()) [[unlikely]]
    charge(out, flow, frame.frame_bytes(), now);
  ++flow.counters.packets;
  flow.counters.bytes += frame.payload_bytes();
  flow.counters.first_sent = std::min(flow.counters.first_sent, now);
  flow.counters.last_left = out.free_at;
  return true;
}

void RoceHost::charge(HostPort& out, const Flow& flow, uint32_t frame_bytes, Instant now) noexcept {
  out.flow_control.sent(static_cast<uint8_t>(std::countr_zero(flow.priority_bit)), frame_bytes, now);
  out.find_next();
}

// A sender's timer stands at its deadline or before it, so that a deadline that moves on costs nothing.
void RoceHost::arm(uint32_t index) noexcept {
  ReliableSender& sender = senders_[index];
  if (sender.has_timer || sender.deadline().is_never()) return;
  sender.has_timer = true;
  timers_.push(sender.deadline(), index);
}

void RoceHost::expire(Instant now) noexcept {
  ReliableSender& sender = senders_[timers_.top_id()];
  if (sender.deadline() <= now) {
    sender.time_out(now, flows_[sender.flow()].counters);
    revive(sender, now);
  }
  if (sender.deadline().is_never()) {
    timers_.pop();
    sender.has_timer = false;
  } else {
    timers_.replace_top(sender.deadline());
  }
}

// It may have become able to send.
void RoceHost::revive(ReliableSender& sender, Instant now) noexcept {
  if (sender.stands_in_order) return;
  const Instant eligible = sender.eligible(now);
  if (eligible.is_never()) return;
  sender.stands_in_order = true;
  ports_[flows_[sender.flow()].port.value()].wake(sender.flow(), eligible, now);
}

void RoceHost::link_changed(PortNo port, bool up, Instant now) noexcept {
  HostPort& out = ports_[port.value()];
  if (up) out.free_at = std::max(out.free_at, now);
  out.flow_control.link_changed(up, now);
  out.reconsider(now);
}

void RoceHost::drain() noexcept {
  for (HostPort& port : ports_) {
    while (port.control.waiting() != 0) PacketPool::release(port.control.pop_any());
    while (!port.buffer.is_empty()) PacketPool::release(port.buffer.pop(Instant{}));
    port.find_next();
  }
}

}  // namespace softspine::testbeds
