// SPDX-License-Identifier: Apache-2.0
#include "dataplane/link/transmitter.hpp"

#include "dataplane/link/node.hpp"

namespace softspine::dataplane {

bool Transmitter::arrives() noexcept {
  if (!up_) {
    ++counters_.lost_packets;
    return false;
  }
  if (fault_ == nullptr) return true;
  switch (fault_->next()) {
    case LinkFault::Fate::kArrives: return true;
    case LinkFault::Fate::kLost: ++counters_.vanished_packets; break;
    case LinkFault::Fate::kDamaged: ++counters_.damaged_packets; break;
  }
  return false;
}

void Transmitter::cut(Packet packet) noexcept {
  ++counters_.cut_packets;
  counters_.lost_flow_packets += packet.is_of_flow() ? 1 : 0;
  PacketPool::release(std::move(packet));
}

// What is not a plain link inside one worker: watched, down, or leading to another worker.
void Transmitter::send_watched_or_away(Packet packet, Instant left) noexcept {
  if (tap_ != nullptr) tap_->frame(Direction::kTransmitted, packet, left, text_of(packet.meta().remark));
  if (!arrives()) {
    counters_.lost_flow_packets += packet.is_of_flow() ? 1 : 0;
    PacketPool::release(std::move(packet));
  } else if (outbox_ == nullptr) {
    peer_->deliver(peer_port_, std::move(packet), left + propagation_);
  } else {
    outbox_->push(peer_, peer_port_, std::move(packet), left + propagation_);
  }
}

}  // namespace softspine::dataplane
