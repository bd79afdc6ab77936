// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/host_flows.hpp"

#include <algorithm>
#include <bit>

#include "dataplane/link/node.hpp"
#include "dataplane/units/check.hpp"
#include "testbeds/hosts/response_template.hpp"

namespace softspine::testbeds {

using namespace dataplane;

uint32_t HostFlows::add(const FlowConfig& config, Rate line) {
  const uint32_t index = count();
  const bool is_reliable = config.transport == TransportKind::kReliable;
  const bool has_telemetry = is_reliable && uses_telemetry(config.reliable.congestion_control);
  flows_.push_back({.first_template = static_cast<uint32_t>(templates_.size()),
                    .sender = is_reliable ? static_cast<uint32_t>(senders_.size()) : kOpenLoop,
                    .port = config.port,
                    .own_port = config.port,
                    .priority_bit = static_cast<uint8_t>(1U << host_.priority_of_dscp[config.dscp]),
                    .additions = host_.tag.tci_of(config.dscp) | (has_telemetry ? kHasTelemetry : 0),
                    .counters = {.id = config.id, .qp = config.source_qp},
                    .transport = is_reliable ? OpenLoop{} : OpenLoop{config}});
  if (is_reliable) {
    SOFTSPINE_CHECK(!line.is_zero(), config.id, config.port.value());
    senders_.emplace_back(index, config, line);
    senders_.back().stand_in_order(config.queue_depth == 0);
    if (config.queue_depth != 0) senders_.back().listen(events_);
    timers_.reserve(senders_.size());
  }
  for (const FrameTemplate& frame : templates_of(host_, config)) templates_.push_back(frame);
  if (config.queue_depth != 0) {
    flows_.back().posted = static_cast<uint32_t>(posted_.size());
    posted_.push_back(config);
    templates_.resize(flows_.back().first_template + kPartsOfMessage);
  }
  return index;
}

bool HostFlows::post(uint32_t index, uint64_t bytes, uint64_t tag, Instant now, std::vector<HostPort>& ports) noexcept {
  Flow& flow = flows_[index];
  SOFTSPINE_CHECK(flow.posted != kFilled && bytes <= kMaxMessageBytes, index, bytes);
  if (flow.sender != kOpenLoop) {
    if (!senders_[flow.sender].post(bytes, tag, now)) return false;
    shape(flow);
    revive(senders_[flow.sender], now, ports);
    return true;
  }
  const bool was_idle = !flow.transport.queue().has_next();
  if (!flow.transport.post(bytes, tag, now)) return false;
  shape(flow);
  if (was_idle) ports[flow.port.value()].order.add(index, flow.transport.eligible(), now);
  return true;
}

void HostFlows::listen(WorkEvents* events) noexcept {
  events_ = events;
  for (ReliableSender& sender : senders_) {
    if (flows_[sender.flow()].posted != kFilled) sender.listen(events);
  }
}

// Its next packet is one of a message of this size, with this immediate data: the templates become those of its
// messages.
void HostFlows::shape(const Flow& flow) noexcept {
  const WorkQueue& queue = queue_of(flow);
  FlowConfig& config = posted_[flow.posted];
  if (!queue.has_next()) return;
  const auto immediate = config.has_immediates ? static_cast<uint32_t>(queue.message_tag()) : 0;
  if (queue.message_bytes() == config.message_bytes && immediate == config.immediate) return;
  config.message_bytes = queue.message_bytes();
  config.immediate = immediate;
  write_templates(host_, config, &templates_[flow.first_template]);
}

// Its last packet has left. Who is told may post.
void HostFlows::end_message(Flow& flow, uint32_t index) noexcept {
  ++flow.counters.messages;
  if (flow.posted == kFilled) return;
  shape(flow);
  if (flow.sender != kOpenLoop) return;
  const Instant left = flow.counters.last_left;
  flow.transport.complete([&](uint64_t tag) {
    if (events_ != nullptr) events_->completed(index, tag, left);
  });
}

HostFlows::Places HostFlows::places() const noexcept {
  const size_t middle = static_cast<size_t>(Part::kMiddle);
  return {flows_.data(), senders_.data(), templates_.size() > middle ? &templates_[middle] : templates_.data()};
}

void HostFlows::prefetch(const HostPort& out) const noexcept {
  out.wire->prefetch_peer();
  const uint32_t flow = out.order.first();
  if (flow >= flows_.size()) return;
  dataplane::prefetch(&flows_[flow]);
  if (flow < senders_.size()) {
    dataplane::prefetch(&senders_[flow], ReliableSender::kBytesOfPacket);
  } else {
    dataplane::prefetch(&flows_[flow].transport);
  }
  const size_t frame = size_t{kPartsOfMessage} * flow + static_cast<size_t>(Part::kMiddle);
  if (frame < templates_.size()) dataplane::prefetch(&templates_[frame], sizeof(FrameTemplate));
}

void HostFlows::send(HostPort& out, Instant now) noexcept {
  const uint32_t index = out.order.take(now);
  Flow& flow = flows_[index];
  if (((out.flow_control.advance(now) | out.closed) & flow.priority_bit) != 0) [[unlikely]]
    return out.park(index);
  if (flow.sender != kOpenLoop) return send_reliable(out, index, now);
  const OpenLoop::Segment segment = flow.transport.next();
  const FrameTemplate& frame = templates_[flow.first_template + static_cast<uint32_t>(segment.part)];
  if (!transmit(out, flow, frame, segment.psn, false, now)) [[unlikely]]
    return out.order.add(index, now, now);
  const bool ended = flow.transport.sent(now, out.free_at, frame.interval());
  const Instant eligible = flow.transport.eligible();
  if (!eligible.is_never()) line_up(out, index, eligible, now);
  if (ended) end_message(flow, index);
}

// The flow has just sent a packet, from `now` on, and may send the next one from `eligible` on.
[[gnu::always_inline]] inline void HostFlows::line_up(HostPort& out, uint32_t index, Instant eligible,
                                                      Instant now) noexcept {
  if (eligible > out.free_at) eligible = eligible + out.jitter.of_paced(out.free_at - now);
  out.order.add(index, eligible, now);
}

void HostFlows::send_reliable(HostPort& out, uint32_t index, Instant now) noexcept {
  Flow& flow = flows_[index];
  ReliableSender& sender = senders_[flow.sender];
  Instant eligible = sender.eligible(now);
  if (eligible <= now) {
    const ReliableSender::Segment segment = sender.next();
    const FrameTemplate& frame = templates_[flow.first_template + static_cast<uint32_t>(segment.part)];
    if (!transmit(out, flow, frame, segment.psn, segment.asks, now)) [[unlikely]]
      return out.order.add(index, now, now);
    const uint32_t wire_bytes = std::max(frame.frame_bytes(), kMinFrameBytes) + kWireOverheadBytes;
    const bool is_again = sender.sends_again();
    if (sender.sent(now, out.free_at, wire_bytes, flow.counters)) end_message(flow, index);
    if (is_again) [[unlikely]] {
      flow.counters.reliable.retransmitted_bytes += frame.payload_bytes();
      if (flow.posted != kFilled) shape(flow);
    }
    arm(flow.sender);
    eligible = sender.eligible(now);
    sender.stand_in_order(!eligible.is_never());
    if (sender.stands_in_order()) line_up(out, index, eligible, now);
    return;
  }
  sender.stand_in_order(!eligible.is_never());
  if (sender.stands_in_order()) out.order.add(index, eligible, now);
}

// False if there is no memory: then the port tries again a little later.
[[gnu::always_inline]] inline bool HostFlows::transmit(HostPort& out, Flow& flow, const FrameTemplate& frame,
                                                       uint32_t psn, bool asks, Instant now) noexcept {
  Packet packet = pool_.make(frame.stored_bytes());
  if (!packet) [[unlikely]] {
    out.retry_later(now);
    return false;
  }
  frame.write(packet.data(), psn, static_cast<uint16_t>(flow.counters.packets), asks);
  if (flow.additions != 0) [[unlikely]] {
    add_to(packet, flow.additions);
  } else {
    frame.describe(packet.meta());
  }
  packet.meta().frame_bytes = frame.frame_bytes();
  packet.meta().born = now;
  packet.meta().has_right_sums = true;
  packet.set_flow(flow.counters.id);
  out.free_at = out.wire->send(std::move(packet), now);
  out.flow_control.leaves(flow.priority_bit, out.free_at);
  if (const Duration gap = out.jitter.gap_after(out.free_at - now); gap.count_ps() != 0) [[unlikely]]
    out.gap_until = out.free_at + gap;
  if (out.flow_control.goes_by_credit()) [[unlikely]]
    charge(out, flow, frame.frame_bytes(), now);
  ++flow.counters.packets;
  flow.counters.bytes += frame.payload_bytes();
  flow.counters.first_sent = std::min(flow.counters.first_sent, now);
  flow.counters.last_left = out.free_at;
  return true;
}

void HostFlows::add_to(Packet& packet, uint32_t additions) noexcept {
  const auto tci = static_cast<uint16_t>(additions);
  if (tci != 0) put_tag(packet, tci);
  if ((additions & kHasTelemetry) != 0) put_telemetry(packet);
}

void HostFlows::charge(HostPort& out, const Flow& flow, uint32_t frame_bytes, Instant now) noexcept {
  out.flow_control.sent(static_cast<uint8_t>(std::countr_zero(flow.priority_bit)), frame_bytes, now);
  out.find_next();
}

void HostFlows::arm(uint32_t index) noexcept {
  ReliableSender& sender = senders_[index];
  if (sender.has_timer() || sender.deadline().is_never()) return;
  sender.set_timer(true);
  timers_.push(sender.deadline(), index);
}

// Timeouts that double are short again after progress: its deadline may be before its timer.
void HostFlows::set_timer_anew(uint32_t index) noexcept {
  if (senders_[index].has_timer()) timers_.remove(index);
  senders_[index].set_timer(false);
  arm(index);
}

void HostFlows::expire(Instant now, std::vector<HostPort>& ports) noexcept {
  ReliableSender& sender = senders_[timers_.top_id()];
  if (sender.deadline() <= now) {
    sender.time_out(now, flows_[sender.flow()].counters);
    if (sender.has_failed() && events_ != nullptr) events_->failed(sender.flow(), now);
    if (path_change_after_ != 0 && !sender.has_failed() && sender.timeouts_in_a_row() % path_change_after_ == 0) {
      change_path(sender, ports, now);
    }
    if (flows_[sender.flow()].posted != kFilled) shape(flows_[sender.flow()]);
    revive(sender, now, ports);
  }
  if (sender.deadline().is_never()) {
    timers_.pop();
    sender.set_timer(false);
  } else {
    timers_.replace_top(sender.deadline());
  }
}

uint64_t HostFlows::use_ports(uint8_t usable, std::vector<HostPort>& ports, Instant now) noexcept {
  usable_ports_ = usable;
  return place_flows(ports, now);
}

// Each flow's port as its own and the bond's have it; those that stand in another port's line change it.
uint64_t HostFlows::place_flows(std::vector<HostPort>& ports, Instant now) noexcept {
  uint64_t moved = 0;
  for (Flow& flow : flows_) {
    const bool is_usable = (usable_ports_ >> flow.own_port.value() & 1) != 0;
    const auto other = static_cast<uint16_t>(1 - flow.own_port.value());
    const bool has_other = (usable_ports_ >> other & 1) != 0;
    const PortNo port = is_usable ? flow.own_port : has_other ? PortNo{other} : flow.port;
    moved += port != flow.port ? 1 : 0;
    flow.port = port;
  }
  if (moved == 0) return 0;
  for (uint16_t p = 0; p < ports.size(); ++p) {
    ports[p].move_to(ports[1U - p], now, [&](uint32_t flow) { return flows_[flow].port != PortNo{p}; });
  }
  return moved;
}

void HostFlows::change_path(const ReliableSender& sender, std::vector<HostPort>& ports, Instant now) noexcept {
  Flow& flow = flows_[sender.flow()];
  HostPort& before = ports[flow.port.value()];
  const auto other = static_cast<uint16_t>(1 - flow.port.value());
  if ((usable_ports_ >> other & 1) == 0) return;
  flow.port = flow.own_port = PortNo{other};
  ++flow.counters.reliable.path_changes;
  if (!sender.stands_in_order()) return;
  before.move_to(ports[other], now, [&](uint32_t index) { return index == sender.flow(); });
}

// It may have become able to send.
void HostFlows::revive(ReliableSender& sender, Instant now, std::vector<HostPort>& ports) noexcept {
  if (sender.stands_in_order()) return;
  const Instant eligible = sender.eligible(now);
  if (eligible.is_never()) return;
  sender.stand_in_order(true);
  ports[flows_[sender.flow()].port.value()].order.add(sender.flow(), eligible, now);
}

void HostFlows::respond(uint32_t index, const RoceFrame& frame, Instant now, std::vector<HostPort>& ports,
                        Histogram& times) noexcept {
  Flow& flow = flows_[index];
  ++flow.counters.responses;
  if (flow.sender != kOpenLoop) {
    const uint32_t timeouts = senders_[flow.sender].timeouts_in_a_row();
    handle_response(senders_[flow.sender], frame, now, times);
    if (senders_[flow.sender].timeouts_in_a_row() < timeouts) [[unlikely]]
      set_timer_anew(flow.sender);
    if (flow.posted != kFilled) [[unlikely]]
      shape(flow);
    revive(senders_[flow.sender], now, ports);
  } else if (frame.opcode == bth::kCnp) {
    ++flow.counters.reliable.rp_cnp_ignored;
  }
}

// Other syndromes (receiver not ready, remote errors) nobody here sends: they are counted as responses.
void HostFlows::handle_response(ReliableSender& sender, const RoceFrame& frame, Instant now,
                                Histogram& times) noexcept {
  constexpr uint8_t kNoCredits = 0x1f;  // bits that say how many, in an acknowledgement
  FlowSent& counters = flows_[sender.flow()].counters;
  if (frame.opcode == bth::kCnp) {
    sender.receive_cnp(now, counters);
  } else if ((frame.syndrome() & ~kNoCredits) == 0) {
    sender.acknowledge(frame, now, counters, times);
  } else if (frame.syndrome() == kSyndromeSequenceError) {
    sender.go_back(frame.psn, now, counters, times);
  }
}

}  // namespace softspine::testbeds
