// SPDX-License-Identifier: Apache-2.0
#include "dataplane/link/transmitter.hpp"

#include "dataplane/link/node.hpp"

namespace softspine::dataplane {

// What is not a plain link inside one worker: watched, down, or leading to another worker.
void Transmitter::send_watched_or_away(Packet packet, Instant left) noexcept {
  if (tap_ != nullptr) tap_->frame(Direction::kTransmitted, packet, left, nullptr);
  if (!up_) {
    ++counters_.lost_packets;
    PacketPool::release(std::move(packet));
  } else if (outbox_ == nullptr) {
    peer_->deliver(peer_port_, std::move(packet), left + propagation_);
  } else {
    outbox_->push(peer_, peer_port_, std::move(packet), left + propagation_);
  }
}

}  // namespace softspine::dataplane
