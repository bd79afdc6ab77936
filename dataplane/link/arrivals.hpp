// SPDX-License-Identifier: Apache-2.0
// The packets on their way to one port, in order, with the instants at which their last bits arrive.
//
// A ring that grows to the number of packets that a link holds, and does not shrink; it has no memory before the
// first packet. The instants lie beside each other, so finding the packets that are due touches none, and packets are
// prefetched before their turn comes.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class Arrivals {
 public:
  bool empty() const { return head_ == tail_; }
  uint32_t size() const { return tail_ - head_; }
  Instant front_at() const { return slots_[head_ & mask_].at; }
  Instant back_at() const { return slots_[(tail_ - 1) & mask_].at; }

  void push(Packet packet, Instant at) {
    if (tail_ - head_ == room_) [[unlikely]]
      grow();
    slots_[tail_++ & mask_] = {packet.take(), at};
  }
  // Slow, for observers only: calls see(flow) for each packet.
  template <typename See>
  void for_each(See&& see) const {
    for (uint32_t i = head_; i != tail_; ++i) see(Packet::flow_of(slots_[i & mask_].mbuf));
  }
  Packet pop(uint16_t port) {
    const Slot slot = slots_[head_++ & mask_];
    if (size() > kAhead) Packet::prefetch(slots_[(head_ + kAhead) & mask_].mbuf);
    PacketMeta& meta = *Packet::meta_of(slot.mbuf);
    meta.at = slot.at;
    meta.in_port = port;
    return Packet{slot.mbuf};
  }

 private:
  static constexpr uint32_t kAhead = 6;
  struct Slot {
    rte_mbuf* mbuf = nullptr;
    Instant at;
  };
  [[gnu::noinline]] void grow() {
    std::vector<Slot> larger(slots_.empty() ? 16 : 2 * slots_.size());
    const uint32_t count = size();
    for (uint32_t i = 0; i < count; ++i) larger[i] = slots_[(head_ + i) & mask_];
    slots_.swap(larger);
    head_ = 0;
    tail_ = count;
    room_ = static_cast<uint32_t>(slots_.size());
    mask_ = room_ - 1;
  }

  std::vector<Slot> slots_;  // a power of two
  uint32_t room_ = 0;        // slots_.size(), which has to be computed
  uint32_t mask_ = 0;
  uint32_t head_ = 0;
  uint32_t tail_ = 0;
};

}  // namespace softspine::dataplane
