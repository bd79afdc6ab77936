// SPDX-License-Identifier: Apache-2.0
#include "dataplane/link/transmitter.hpp"

#include "dataplane/link/node.hpp"

namespace softspine::dataplane {

LossKind Transmitter::fate() noexcept {
  if (!up_) {
    ++counters_.lost_packets;
    return LossKind::kLinkDown;
  }
  if (dead_) {
    ++counters_.vanished_packets;
    return LossKind::kVanished;
  }
  if (fault_ == nullptr) return LossKind::kDropped;
  switch (fault_->next()) {
    case LinkFault::Fate::kArrives: return LossKind::kDropped;
    case LinkFault::Fate::kLost: ++counters_.vanished_packets; return LossKind::kVanished;
    case LinkFault::Fate::kDamaged: ++counters_.damaged_packets; return LossKind::kDamaged;
  }
  return LossKind::kDropped;
}

void Transmitter::end(Packet packet, LossKind kind, Instant at) noexcept {
  counters_.lost_flow_packets += packet.is_of_flow() ? 1 : 0;
  if (losses_ != nullptr) {
    losses_->add({.at = at,
                  .node = node_in_losses_,
                  .flow = packet.flow(),
                  .frame_bytes = packet.frame_bytes(),
                  .out_port = port_in_losses_,
                  .kind = kind,
                  .is_copy = packet.is_copy()});
  }
  PacketPool::release(std::move(packet));
}

void Transmitter::cut(Packet packet, Instant now) noexcept {
  ++counters_.cut_packets;
  end(std::move(packet), LossKind::kLinkDown, now);
}

// What is not a plain link inside one worker: watched, down, or leading to another worker.
void Transmitter::send_watched_or_away(Packet packet, Instant left) noexcept {
  if (tap_ != nullptr) tap_->frame(Direction::kTransmitted, packet, left, text_of(packet.meta().remark));
  if (const LossKind lost = fate(); lost != LossKind::kDropped) {
    // What is sent into a link that is down is lost as it begins; what dies on its way, with its last bit.
    const Duration of_it = lost == LossKind::kLinkDown ? rate_.time_of_frame(packet.frame_bytes()) : Duration{};
    end(std::move(packet), lost, left - of_it);
  } else if (outbox_ == nullptr) {
    peer_->deliver(peer_port_, std::move(packet), left + propagation_);
  } else {
    outbox_->push(peer_id_, peer_port_, std::move(packet), left + propagation_);
  }
}

}  // namespace softspine::dataplane
