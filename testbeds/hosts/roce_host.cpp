// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/roce_host.hpp"

#include <algorithm>

#include "dataplane/units/check.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

constexpr uint32_t kMaxAnswers = 1024;
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
                    .port = config.port});
  for (const FrameTemplate& frame : templates_of(config_, config)) templates_.push_back(frame);
  Port& port = ports_[config.port.value()];
  port.order.reserve(++port.flows);
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
  const Port& out = ports_[port.value()];
  if (!transmitter(port).up()) return Instant::never();
  const Instant ready = out.answers.empty() ? out.order.next() : std::min(out.order.next(), out.answers.front().at);
  return std::max(ready, out.free_at);
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
  Port& out = ports_[port.value()];
  if (out.answers.empty() || out.answers.front().at > now) return send_segment(port, out, now);
  --out.answers_waiting;
  ++counters_.answers_sent;
  Packet packet = out.answers.pop();
  packet.meta().born = now;
  out.free_at = transmitter(port).send(std::move(packet), now);
}

void RoceHost::send_segment(PortNo port, Port& out, Instant now) noexcept {
  const uint32_t index = out.order.take(now);
  Flow& flow = flows_[index];
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
  Port& port = ports_[packet.meta().in_port];
  if (port.answers_waiting == kMaxAnswers) return drop(std::move(packet), DropReason::kQueueFull);
  ++port.answers_waiting;
  ++counters_.answered;
  port.answers.push(std::move(packet));
}

void RoceHost::drop(Packet packet, DropReason reason) noexcept {
  ++counters_.dropped[static_cast<size_t>(reason)];
  PacketPool::release(std::move(packet));
}

void RoceHost::link_changed(PortNo port, bool up, Instant now) noexcept {
  Port& out = ports_[port.value()];
  if (up) out.free_at = std::max(out.free_at, now);
}

void RoceHost::drain() noexcept {
  for (Port& port : ports_) {
    while (!port.answers.empty()) PacketPool::release(port.answers.pop());
    port.answers_waiting = 0;
  }
}

}  // namespace softspine::testbeds
