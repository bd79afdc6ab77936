// SPDX-License-Identifier: Apache-2.0
#include "dataplane/egress/egress.hpp"

#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

Egress::Egress(Node& node, std::vector<PortCounters>& counters)
    : node_(node), counters_(counters), ports_(node.ports()) {
  busy_.reserve(node.ports());
}

DropReason Egress::enqueue(Packet& packet, Instant now, uint32_t limit_bytes) noexcept {
  const PacketMeta& meta = packet.meta();
  const uint16_t number = meta.out_port;
  Port& port = ports_[number];
  QueueCounters& queue = counters_[number].queues[meta.queue];
  if (!node_.transmitter(PortNo{number}).up()) return DropReason::kLinkDown;
  if (!TailDrop::admits(queue.current_bytes, meta.frame_bytes, limit_bytes)) {
    queue.refused(meta.frame_bytes);
    return DropReason::kQueueFull;
  }
  queue.entered(meta.frame_bytes);
  if (port.busy) {
    port.waiting |= static_cast<uint8_t>(1U << meta.queue);
    port.queues[meta.queue].push(std::move(packet));
  } else {
    port.busy = true;
    busy_.push(start(number, std::move(packet), now), number);
  }
  return DropReason::kCount;
}

// Puts the packet on the wire; returns when its last bit has left.
Instant Egress::start(uint16_t number, Packet packet, Instant at) noexcept {
  Port& port = ports_[number];
  port.wire_bytes = packet.frame_bytes();
  port.wire_queue = packet.meta().queue;
  port.wire_cast = Cast::kUnicast;
  const uint8_t* destination = packet.data();
  if ((destination[0] & ethernet::kMulticastBit) != 0) [[unlikely]] {
    port.wire_cast = load48(destination) == 0xffffffffffff ? Cast::kBroadcast : Cast::kMulticast;
  }
  return node_.transmitter(PortNo{number}).send(std::move(packet), at);
}

// When the last bit has left: until then the frame is charged to its queue, and a packet is in one place only.
void Egress::count_departure(const Port& port, PortCounters& counters) noexcept {
  ++counters.tx_packets;
  counters.tx_bytes += port.wire_bytes;
  counters.queues[port.wire_queue].left(port.wire_bytes);
  if (port.wire_cast == Cast::kUnicast) [[likely]]
    return;
  ++(port.wire_cast == Cast::kBroadcast ? counters.tx_broadcast_packets : counters.tx_multicast_packets);
}

void Egress::finish_first() noexcept {
  const Instant at = busy_.next();
  const auto number = static_cast<uint16_t>(busy_.top_id());
  Port& port = ports_[number];
  count_departure(port, counters_[number]);
  if (port.waiting == 0) {
    port.busy = false;
    busy_.pop();
    return;
  }
  const auto q = static_cast<uint32_t>(std::bit_width(port.waiting) - 1);
  PacketList& queue = port.queues[q];
  Packet packet = queue.pop();
  if (queue.empty()) {
    port.waiting &= static_cast<uint8_t>(~(1U << q));
  } else {
    queue.prefetch_front();
  }
  busy_.replace_top(start(number, std::move(packet), at));
}

void Egress::forget(uint16_t port, uint32_t queue, uint32_t bytes) noexcept {
  QueueCounters& counters = counters_[port].queues[queue];
  --counters.current_packets;
  counters.current_bytes -= bytes;
}

}  // namespace softspine::dataplane
