// SPDX-License-Identifier: Apache-2.0
// RoceHost's receiving half.
#include <algorithm>

#include "testbeds/hosts/roce_host.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

FrameBytes bytes_of(const Packet& packet) {
  return {packet.data(), packet.stored_bytes(), packet.frame_bytes()};
}

// What was sent to all, or flooded, is for one of them, and lost at none of the others.
bool is_to_all(const Packet& packet) {
  return packet.is_copy() || (packet.data()[0] & ethernet::kMulticastBit) != 0;
}

}  // namespace

void RoceHost::receive(Packet packet) noexcept {
  if (packet.meta().in_port >= ports_.size()) [[unlikely]]
    return work_.take(std::move(packet));
  const uint32_t wire_bytes = packet.frame_bytes();
  ++counters_.received_packets;
  counters_.received_bytes += wire_bytes;
  ++ports_[packet.meta().in_port].rx_packets;
  const bool is_of_vlan = vlan_ == 0 || take_tag(packet, vlan_);
  if (has_credit_) [[unlikely]]
    return receive_by_credit(std::move(packet), wire_bytes, is_of_vlan);
  if (!is_of_vlan) [[unlikely]]
    return drop(std::move(packet), DropReason::kVlanNotAllowed);
  if (is_slow_) [[unlikely]] {
    if (buffer(packet)) return;
  }
  process(std::move(packet));
}

// What is granted is counted as the link has it, and what is held as the host has it, without its tag.
void RoceHost::receive_by_credit(Packet packet, uint32_t wire_bytes, bool is_of_vlan) noexcept {
  const PortNo port{packet.meta().in_port};
  const Instant now = packet.meta().at;
  const uint32_t bytes = packet.frame_bytes();
  HostPort& in = ports_[port.value()];
  const bool is_short = packet.stored_bytes() < ethernet::kBytes;
  if (!in.flow_control.goes_by_credit() || is_short ||
      load16(packet.data() + ethernet::kType) == ethernet::kTypeMacControl) {
    return process(std::move(packet));
  }
  const uint8_t priority = priority_of(packet);
  packet.meta().priority_group = priority;
  in.flow_control.received(priority, wire_bytes);
  const uint64_t buffered = counters_.buffered;
  if (!is_of_vlan) {
    drop(std::move(packet), DropReason::kVlanNotAllowed);
  } else if (!is_slow_ || !buffer(packet)) {
    process(std::move(packet));
  }
  if (counters_.buffered != buffered) in.credited_cells[priority] += CellSize{kHostCellBytes}.cells_of(bytes);
  in.flow_control.holds(priority, in.credited_cells[priority], now);
  in.find_next();
}

void RoceHost::plan_flow_control(PortNo port, Instant now) noexcept {
  HostPort& in = ports_[port.value()];
  in.plan_flow_control(config_, port.value(), now);
  has_credit_ |= in.flow_control.goes_by_credit();
}

void RoceHost::process(Packet packet) noexcept {
  const FrameBytes frame = bytes_of(packet);
  if (claims_roce(frame)) return receive_roce(std::move(packet));
  if (frame.stored_bytes >= ethernet::kBytes && load16(frame.data + ethernet::kType) == ethernet::kTypeMacControl) {
    const DropReason end = ports_[packet.meta().in_port].take_own_frame(packet);
    return drop(std::move(packet), end);
  }
  if (bond_.takes(PortNo{packet.meta().in_port}, {frame.data, frame.stored_bytes}, packet.meta().at)) [[unlikely]] {
    act_on_bond(packet.meta().at);
    find_due();
    return drop(std::move(packet), DropReason::kConsumed);
  }
  const bool is_ours = frame.stored_bytes < ethernet::kBytes || (frame.data[0] & ethernet::kMulticastBit) != 0 ||
                       load_mac(frame.data) == config_.mac;
  is_ours ? answer(std::move(packet)) : drop(std::move(packet), DropReason::kNotForUs);
}

void RoceHost::receive_roce(Packet packet) noexcept {
  if (!responder_.is_to_us(packet.data())) [[unlikely]]
    return drop(std::move(packet), DropReason::kNotForUs);
  const auto frame = packet.meta().has_right_sums ? read_right_roce(bytes_of(packet)) : read_roce(bytes_of(packet));
  if (!frame) [[unlikely]]
    return drop(std::move(packet), frame.error());
  if (frame->is_response) return respond(std::move(packet), *frame);
  const QpTable::Entry& entry = queue_pairs_.find(frame->destination_qp);
  if (entry.sink == QpTable::kNone) [[unlikely]]
    return drop(std::move(packet), DropReason::kUnknownQp);
  sinks_.receive(packet, *frame, entry, answers_to(PortNo{packet.meta().in_port}), counters_);
  ++counters_.delivered_packets;
  PacketPool::release(std::move(packet));
}

void RoceHost::respond(Packet packet, const RoceFrame& frame) noexcept {
  const uint32_t index = queue_pairs_.find(frame.destination_qp).flow;
  if (index == QpTable::kNone) return drop(std::move(packet), DropReason::kUnknownQp);
  ++counters_.responses;
  flows_.respond(index, frame, packet.meta().at, ports_, counters_.completion_ps);
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
  packet.set_flow(kNoFlow);  // and no copy, whatever it was written over
  HostPort& port = answers_to(PortNo{packet.meta().in_port});
  const uint8_t priority = priority_of(packet);
  if (!port.control.has_room(priority)) return drop(std::move(packet), DropReason::kQueueFull);
  ++counters_.answered;
  port.control.push(std::move(packet), priority);
  port.find_next();
}

// True if the packet waits in its port's receive buffer, or found no room there.
bool RoceHost::buffer(Packet& packet) noexcept {
  HostPort& port = ports_[packet.meta().in_port];
  const Instant now = packet.meta().at;
  if (!claims_roce(bytes_of(packet)) || (port.buffer.priorities() >> priority_of(packet) & 1) == 0) return false;
  if (!port.buffer.has_room(packet.frame_bytes())) {
    drop(std::move(packet), DropReason::kReceiveBufferFull);
    return true;
  }
  ++counters_.buffered;
  port.buffer.push(std::move(packet), now);
  port.adjust_pause(now);
  due_ = std::min({due_, port.buffer.next(), port.watchdog.due()});
  return true;
}

void RoceHost::take_from_buffer(HostPort& port, Instant now) noexcept {
  --counters_.buffered;
  process(port.take_buffered(now));
}

void RoceHost::drain_buffers(Instant now) noexcept {
  for (HostPort& port : ports_) {
    while (port.buffer.next() <= now) take_from_buffer(port, now);
    port.adjust_pause(now);
  }
  find_due();
}

void RoceHost::set_slow_receiver(PortNo port, const std::optional<SlowReceiver>& slow, Instant now) {
  HostPort& in = ports_[port.value()];
  is_slow_ = true;  // from now on somebody has to look
  in.receive_slowly(slow, now);
  plan_flow_control(port, now);
  while (!slow && !in.buffer.is_empty()) take_from_buffer(in, now);
  drain_buffers(now);
}

void RoceHost::set_storm(PortNo port, uint8_t priorities, Instant now) {
  ports_[port.value()].set_storm(priorities, now);
  find_due();
}

void RoceHost::drop(Packet packet, DropReason reason) noexcept {
  if (reason == DropReason::kNotForUs && is_to_all(packet)) reason = DropReason::kForOthers;
  ++counters_.dropped[static_cast<size_t>(reason)];
  counters_.ended_flow_packets += packet.is_of_flow() ? 1 : 0;
  if (losses_ != nullptr && !is_consumed(reason)) [[unlikely]]
    losses_->add(loss_of(packet, node_in_losses_, reason, packet.meta().at));
  PacketPool::release(std::move(packet));
}

}  // namespace softspine::testbeds
