// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/host_sinks.hpp"

#include <algorithm>

namespace softspine::testbeds {

using namespace dataplane;

namespace {

Replies replies_of(const SinkConfig& config) {
  if (config.transport != TransportKind::kReliable) return Replies::kNone;
  return config.echoes_ce || config.echoes_telemetry ? Replies::kEchoes : Replies::kAcknowledges;
}

uint8_t syndrome_of(const ReceiveQueue::Judgement& judgement) noexcept {
  return judgement.reply == ReceiveQueue::Reply::kAck ? kSyndromeAck : kSyndromeSequenceError;
}

// A request's telemetry, if all of it is stored; null: it has none.
const uint8_t* telemetry_of(const Packet& packet, const RoceFrame& frame) noexcept {
  if ((frame.bth[bth::kCongestion] & telemetry::kBthBit) == 0) return nullptr;
  const uint8_t* const field = frame.bth + bth::kBytes + telemetry::extension_of(frame.opcode);
  const uint8_t* const end = packet.data() + packet.stored_bytes() - kIcrcBytes;
  return frame.payload_bytes >= telemetry::kBytes && field + telemetry::kBytes <= end ? field : nullptr;
}

[[gnu::always_inline]] inline void queue_response(HostPort& port, uint8_t priority, Packet packet, uint32_t bytes,
                                                  Instant now) noexcept {
  packet.cut_to(bytes);
  packet.meta().at = now;
  port.control.push(std::move(packet), priority);
  port.find_next();
}

}  // namespace

void HostSinks::add(const HostConfig& host, const SinkConfig& config, QpTable::Entry& entry) {
  entry.sink = count();
  sinks_.emplace_back(config.id, config.qp, config.first_psn, index_of_latencies(config.latency_group));
  if (config.source_qp == 0) return;
  entry.answering = static_cast<uint32_t>(answering_.size());
  answering_.push_back({.notification = {},
                        .cnp_interval = config.cnp_interval,
                        .nic_delay = config.nic_delay,
                        .ack_priority = host.priority_of_dscp[config.ack_dscp],
                        .cnp_priority = host.priority_of_dscp[config.cnp_dscp],
                        .replies = replies_of(config),
                        .frames = ResponseTemplate{host, config}});
}

uint32_t HostSinks::index_of_latencies(uint32_t group) {
  const auto found = std::ranges::find(latencies_, group, &LatencyGroup::group);
  if (found != latencies_.end()) return static_cast<uint32_t>(found - latencies_.begin());
  waiting_.emplace_back();
  latencies_.push_back({.group = group, .latency_ps = {}});
  latencies_.back().latency_ps.reserve();
  return static_cast<uint32_t>(latencies_.size() - 1);
}

Duration HostSinks::receive_and_answer(const Packet& packet, const RoceFrame& frame, const QpTable::Entry& entry,
                                       HostPort& port, HostCounters& counters) noexcept {
  ReceiveQueue& sink = sinks_[entry.sink];
  Answering& answering = answering_[entry.answering];
  const Instant now = packet.meta().at;
  const bool may_notify = frame.is_marked && answering.cnp_interval > Duration{};
  if (may_notify && answering.notification.answers(now, answering.cnp_interval)) {
    if (Packet cnp = make_cnp(port, answering, counters)) {
      const uint32_t bytes = answering.frames.write_cnp(cnp.data());
      if (answering.nic_delay > Duration{}) [[unlikely]] {
        cnp.cut_to(bytes);
        port.delay(std::move(cnp), answering.cnp_priority, now + answering.nic_delay);
      } else {
        queue_response(port, answering.cnp_priority, std::move(cnp), bytes, now);
      }
      sink.sent_cnp();
    }
  }
  if (answering.replies != Replies::kAcknowledges) [[unlikely]] {
    if (answering.replies == Replies::kNone) return sink.receive(frame, packet.meta().born, now);
    return acknowledge_with_echo(packet, frame, sink, answering, port, counters);
  }
  const ReceiveQueue::Judgement judgement = sink.judge(frame, packet.meta().born, now);
  if (judgement.reply == ReceiveQueue::Reply::kNone) return judgement.message;
  if (Packet ack = make_response(port, answering.ack_priority, counters)) {
    const uint32_t bytes = answering.frames.write_ack(ack.data(), syndrome_of(judgement), judgement.psn, sink.msn());
    queue_response(port, answering.ack_priority, std::move(ack), bytes, now);
  }
  return judgement.message;
}

// The telemetry is no payload of the message.
Duration HostSinks::acknowledge_with_echo(const Packet& packet, const RoceFrame& frame, ReceiveQueue& sink,
                                          const Answering& answering, HostPort& port, HostCounters& counters) noexcept {
  const Instant now = packet.meta().at;
  const uint8_t* const field = telemetry_of(packet, frame);
  RoceFrame data = frame;
  if (field != nullptr) data.payload_bytes -= telemetry::kBytes;
  const ReceiveQueue::Judgement judgement = sink.judge(data, packet.meta().born, now);
  if (judgement.reply == ReceiveQueue::Reply::kNone) return judgement.message;
  if (Packet ack = make_response(port, answering.ack_priority, counters)) {
    const uint32_t bytes = answering.frames.write_ack(ack.data(), syndrome_of(judgement), judgement.psn, sink.msn());
    const uint32_t whole = answering.frames.echo(ack, bytes, frame.is_marked, field);
    queue_response(port, answering.ack_priority, std::move(ack), whole, now);
  }
  return judgement.message;
}

// Empty if there is no room where it will wait.
Packet HostSinks::make_cnp(HostPort& port, const Answering& answering, HostCounters& counters) noexcept {
  if (answering.nic_delay > Duration{} && !port.delayed.has_room()) [[unlikely]] {
    ++counters.unanswered;
    return Packet{};
  }
  return make_response(port, answering.cnp_priority, counters);
}

Packet HostSinks::make_response(HostPort& port, uint8_t priority, HostCounters& counters) noexcept {
  Packet packet = port.control.has_room(priority) ? pool_.make(kTemplateBytes) : Packet{};
  if (packet) [[likely]] {
    packet.meta().has_right_sums = true;
  } else {
    ++counters.unanswered;
  }
  return packet;
}

}  // namespace softspine::testbeds
