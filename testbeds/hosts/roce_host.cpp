// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/roce_host.hpp"

#include <algorithm>

#include "dataplane/buffer/pause_timing.hpp"
#include "dataplane/packet/pfc.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

constexpr Duration kStarvedRetry = Duration::us(1);

FrameBytes bytes_of(const Packet& packet) {
  return {packet.data(), packet.stored_bytes(), packet.frame_bytes()};
}

}  // namespace

RoceHost::RoceHost(const HostConfig& config, PacketPool& pool)
    : Node(config.name, config.ports), config_(config), pool_(pool), responder_(config), ports_(config.ports) {
  SOFTSPINE_CHECK(wrong_with(config).empty(), config.ports, config.mtu);
  SOFTSPINE_CHECK(pool.room_bytes() >= kHostPacketBytes, pool.room_bytes(), kHostPacketBytes);
  static_assert(kHostPacketBytes >= kAdvertisementBytes);
}

uint32_t RoceHost::add_flow(const FlowConfig& config) {
  const auto index = flow_count();
  QpTable::Entry& entry = queue_pairs_.insert(config.source_qp);
  SOFTSPINE_CHECK(entry.flow == QpTable::kNone, config.source_qp, config.id);
  entry.flow = index;
  flows_.push_back({.transport = OpenLoop{config},
                    .counters = {.id = config.id, .qp = config.source_qp},
                    .first_template = static_cast<uint32_t>(templates_.size()),
                    .port = config.port,
                    .priority_bit = static_cast<uint8_t>(1U << config_.priority_of_dscp[config.dscp])});
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
  sinks_.emplace_back(config.id, config.qp, config.first_psn);
  return index;
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
    if (std::min(leaves, arrives) >= until) return std::min(leaves, arrives);
    if (leaves <= arrives) {
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
  send_segment(port, out, now);
}

// One thing, the first of: a PFC frame, a pause that has changed, a control packet.
void RoceHost::depart_beside(PortNo port, HostPort& out, Instant now) noexcept {
  if (out.source.due() <= now) {
    send_pause(port, out, now);
  } else if (out.pause.next_change() <= now) {
    out.reconsider(now);
    return;
  } else {
    ++counters_.answers_sent;
    Packet packet = out.control.take(out.pause.mask(), now);
    packet.meta().born = now;
    out.free_at = transmitter(port).send(std::move(packet), now);
  }
  out.settle();
}

void RoceHost::send_pause(PortNo port, HostPort& out, Instant now) noexcept {
  Packet packet = pool_.make(pfc::kFrameBytes);
  if (!packet) [[unlikely]] {
    ++counters_.starved;
    out.free_at = now + kStarvedRetry;
    return;
  }
  write_pfc(packet.data(), config_.mac, out.source.take(now, pause_quantum(transmitter(port).rate())));
  packet.meta().frame_bytes = pfc::kFrameBytes;
  packet.meta().born = now;
  ++counters_.pauses_sent;
  out.free_at = transmitter(port).send(std::move(packet), now);
}

void RoceHost::send_segment(PortNo port, HostPort& out, Instant now) noexcept {
  const uint32_t index = out.order.take(now);
  Flow& flow = flows_[index];
  if ((out.pause.advance(now) & flow.priority_bit) != 0) [[unlikely]]
    return out.park(index);
  const OpenLoop::Segment segment = flow.transport.next();
  const FrameTemplate& frame = templates_[flow.first_template + static_cast<uint32_t>(segment.part)];
  Packet packet = pool_.make(frame.stored_bytes());
  if (!packet) [[unlikely]] {
    ++counters_.starved;
    out.free_at = now + kStarvedRetry;
    out.order.add(index, now, now);
    return;
  }
  frame.write(packet.data(), segment.psn, static_cast<uint16_t>(flow.counters.packets));
  packet.meta().frame_bytes = frame.frame_bytes();
  packet.meta().born = now;
  out.free_at = transmitter(port).send(std::move(packet), now);
  ++flow.counters.packets;
  flow.counters.bytes += frame.payload_bytes();
  flow.counters.first_sent = std::min(flow.counters.first_sent, now);
  flow.counters.last_left = out.free_at;
  flow.counters.messages += flow.transport.sent(now, out.free_at, frame.interval());
  const Instant eligible = flow.transport.eligible();
  if (!eligible.is_never()) out.order.add(index, eligible, now);
}

void RoceHost::receive(Packet packet) noexcept {
  ++counters_.received_packets;
  counters_.received_bytes += packet.frame_bytes();
  const FrameBytes frame = bytes_of(packet);
  if (claims_roce(frame)) return receive_roce(std::move(packet));
  if (frame.stored_bytes >= ethernet::kBytes && load16(frame.data + ethernet::kType) == ethernet::kTypeMacControl) {
    return receive_pause(std::move(packet));
  }
  const bool is_ours = frame.stored_bytes < ethernet::kBytes || (frame.data[0] & ethernet::kMulticastBit) != 0 ||
                       load_mac(frame.data) == config_.mac;
  is_ours ? answer(std::move(packet)) : drop(std::move(packet), DropReason::kNotForUs);
}

bool RoceHost::is_for_us(const uint8_t* frame) const {
  if (load_mac(frame) != config_.mac) return false;
  const uint8_t* l3 = frame + ethernet::kBytes;
  if (load16(frame + ethernet::kType) == ethernet::kTypeIpv4) return load32(l3 + ipv4::kDestination) == config_.ipv4;
  return load_ipv6(l3 + ipv6::kDestination) == config_.ipv6;
}

void RoceHost::receive_roce(Packet packet) noexcept {
  if (!is_for_us(packet.data())) [[unlikely]]
    return drop(std::move(packet), DropReason::kNotForUs);
  const auto frame = read_roce(bytes_of(packet));
  if (!frame) [[unlikely]]
    return drop(std::move(packet), frame.error());
  if (frame->is_response) return respond(std::move(packet), *frame);
  const uint32_t sink = queue_pairs_.find(frame->destination_qp).sink;
  if (sink == QpTable::kNone) [[unlikely]]
    return drop(std::move(packet), DropReason::kUnknownQp);
  const PacketMeta& meta = packet.meta();
  const Duration message = sinks_[sink].receive(*frame, meta.born, meta.at);
  if (message >= Duration{}) counters_.message_latency_ps.add(message.count_ps());
  counters_.latency_ps.add((meta.at - meta.born).count_ps());
  ++counters_.delivered;
  PacketPool::release(std::move(packet));
}

void RoceHost::respond(Packet packet, const RoceFrame& frame) noexcept {
  const uint32_t flow = queue_pairs_.find(frame.destination_qp).flow;
  if (flow == QpTable::kNone) return drop(std::move(packet), DropReason::kUnknownQp);
  ++flows_[flow].counters.responses;
  ++counters_.responses;
  PacketPool::release(std::move(packet));
}

void RoceHost::answer(Packet packet) noexcept {
  const Responder::Decision decision = responder_.consider(bytes_of(packet), packet.data());
  if (decision.answer == Responder::Answer::kNone) return drop(std::move(packet), decision.reason);
  if (decision.answer == Responder::Answer::kInPlace) return queue_answer(std::move(packet));
  Packet advertisement = pool_.make(kAdvertisementBytes);
  if (!advertisement) return drop(std::move(packet), DropReason::kNoBuffer);
  responder_.write_advertisement(packet.data(), advertisement.data());
  advertisement.meta().at = packet.meta().at;
  advertisement.meta().in_port = packet.meta().in_port;
  PacketPool::release(std::move(packet));
  queue_answer(std::move(advertisement));
}

void RoceHost::queue_answer(Packet packet) noexcept {
  HostPort& port = ports_[packet.meta().in_port];
  const uint8_t priority = priority_of(packet);
  if (!port.control.has_room(priority)) return drop(std::move(packet), DropReason::kQueueFull);
  ++counters_.answered;
  port.control.push(std::move(packet), priority);
  port.settle();
}

uint8_t RoceHost::priority_of(const Packet& packet) const {
  const uint8_t* l3 = packet.data() + ethernet::kBytes;
  switch (load16(packet.data() + ethernet::kType)) {
    case ethernet::kTypeIpv4: return config_.priority_of_dscp[l3[ipv4::kTos] >> 2];
    case ethernet::kTypeIpv6: return config_.priority_of_dscp[load32(l3) >> (ipv6::kTrafficClassShift + 2) & 0x3f];
    default: return config_.priority_of_dscp[0];
  }
}

void RoceHost::receive_pause(Packet packet) noexcept {
  const auto frame = read_pfc(packet.data(), packet.stored_bytes());
  if (!frame) return drop(std::move(packet), frame.error());
  const PortNo port{packet.meta().in_port};
  const Instant now = packet.meta().at;
  const Rate rate = transmitter(port).rate();
  const PauseTiming timing = config_.pause_response_quanta
                                 ? PauseTiming::with_response(rate, *config_.pause_response_quanta)
                                 : PauseTiming::of(rate);
  HostPort& out = ports_[port.value()];
  out.pause.receive(*frame, now, timing.quantum, config_.obeys_pause ? timing.response : Duration::max());
  out.reconsider(now);
  drop(std::move(packet), DropReason::kPfcConsumed);
}

void RoceHost::drop(Packet packet, DropReason reason) noexcept {
  ++counters_.dropped[static_cast<size_t>(reason)];
  PacketPool::release(std::move(packet));
}

void RoceHost::link_changed(PortNo port, bool up, Instant now) noexcept {
  HostPort& out = ports_[port.value()];
  if (up) out.free_at = std::max(out.free_at, now);
  out.pause.clear(now);
  out.reconsider(now);
}

void RoceHost::drain() noexcept {
  for (HostPort& port : ports_) {
    while (port.control.waiting() != 0) PacketPool::release(port.control.pop_any());
    port.settle();
  }
}

}  // namespace softspine::testbeds
