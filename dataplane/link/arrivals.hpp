// SPDX-License-Identifier: Apache-2.0
// The packets on their way to one port, in order, with the instants at which their last bits arrive.
//
// The first three lie here, in one cache line: most links never hold more, and in a fabric of thousands of nodes each
// further line is a cache miss. Later packets wait in a ring, which is made when it is first needed, grows to the
// number of packets that the link holds, and does not shrink.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class alignas(64) Arrivals {
 public:
  bool empty() const { return size_ == 0; }
  uint32_t size() const { return size_; }
  Instant front_at() const { return first_[0].at; }
  rte_mbuf* front() const { return first_[0].mbuf; }
  Instant back_at() const { return slot(size_ - 1).at; }

  [[gnu::always_inline]] void push(Packet packet, Instant at) {
    const Slot slot{packet.take(), at};
    if (size_ < kFirst) [[likely]] {
      first_[size_] = slot;
    } else {
      const uint32_t further = size_ - kFirst;
      if (further_ == nullptr || further_->is_full(further)) [[unlikely]]
        grow(further);
      further_->at(further) = slot;
    }
    ++size_;
  }
  // Slow, for observers only: calls see(glance) for each packet.
  template <typename See>
  void for_each(See&& see) const {
    for (uint32_t i = 0; i < size_; ++i) see(PacketGlance::at(slot(i).mbuf));
  }
  [[gnu::always_inline]] Packet pop(uint16_t port) {
    Packet packet = packet_of(first_[0], port);
    drop(1);
    return packet;
  }
  // Takes the first packet, and then further ones as long as goes(instant) is true of the next, at most `most`:
  // take(packet). Needs a packet.
  template <typename Goes, typename Take>
  [[gnu::always_inline]] void pop_while(uint16_t port, uint32_t most, Goes&& goes, Take&& take) {
    const uint32_t end = std::min(size_, most);
    uint32_t n = 0;
    do {
      if (n + kAhead < size_) Packet::prefetch(slot(n + kAhead).mbuf);
      take(packet_of(slot(n), port));
    } while (++n < end && goes(slot(n).at));
    drop(n);
  }

 private:
  static constexpr uint32_t kFirst = 3;
  static constexpr uint32_t kAhead = 6;
  struct Slot {
    rte_mbuf* mbuf = nullptr;
    Instant at;
  };
  // The packets behind the first kFirst. The ring does not know how many they are; its caller does.
  class Ring {
   public:
    explicit Ring(uint32_t room) : slots_(room), mask_(room - 1) {}
    bool is_full(uint32_t size) const { return size > mask_; }
    Slot& at(uint32_t i) { return slots_[(head_ + i) & mask_]; }
    void drop(uint32_t count) { head_ += count; }

   private:
    std::vector<Slot> slots_;  // a power of two
    uint32_t mask_;
    uint32_t head_ = 0;
  };
  static Packet packet_of(const Slot& slot, uint16_t port) {
    PacketMeta& meta = *Packet::meta_of(slot.mbuf);
    meta.at = slot.at;
    meta.in_port = port;
    return Packet{slot.mbuf};
  }
  // Without the first `count`, which have been taken: those behind them move up.
  [[gnu::always_inline]] void drop(uint32_t count) {
    if (size_ <= kFirst && count == 1) [[likely]] {
      first_[0] = first_[1];
      first_[1] = first_[2];
      --size_;
      return;
    }
    drop_more(count);
  }
  [[gnu::noinline]] void drop_more(uint32_t count) {
    const uint32_t left = size_ - count;
    for (uint32_t i = 0; i < std::min(left, kFirst); ++i) first_[i] = slot(i + count);
    if (size_ > kFirst) further_->drop(size_ - kFirst - (left > kFirst ? left - kFirst : 0));
    size_ = left;
  }
  const Slot& slot(uint32_t i) const { return i < kFirst ? first_[i] : further_->at(i - kFirst); }
  [[gnu::noinline]] void grow(uint32_t further) {
    auto larger = std::make_unique<Ring>(std::max(16U, 2 * further));
    for (uint32_t i = 0; i < further; ++i) larger->at(i) = further_->at(i);
    further_ = std::move(larger);
  }

  std::array<Slot, kFirst> first_;
  std::unique_ptr<Ring> further_;
  uint32_t size_ = 0;  // of all
};
static_assert(sizeof(Arrivals) == 64);

}  // namespace softspine::dataplane
