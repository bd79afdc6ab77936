// SPDX-License-Identifier: Apache-2.0
#include "dataplane/link/transmitter.hpp"

#include "dataplane/link/node.hpp"

namespace softspine::dataplane {

Instant Transmitter::send(Packet packet, Instant start) noexcept {
  const uint32_t bytes = packet.frame_bytes();
  const Instant left = start + rate_.time_of_frame(bytes);
  ++counters_.packets;
  counters_.bytes += bytes;
  if (tap_ != nullptr) [[unlikely]]
    tap_->frame(Direction::kTransmitted, packet, left, nullptr);
  if (!up_) [[unlikely]] {
    ++counters_.lost_packets;
    PacketPool::release(std::move(packet));
  } else if (outbox_ == nullptr) {
    peer_->deliver(peer_port_, std::move(packet), left + propagation_);
  } else {
    outbox_->push(peer_, peer_port_, std::move(packet), left + propagation_);
  }
  return left;
}

}  // namespace softspine::dataplane
