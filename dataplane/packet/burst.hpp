// SPDX-License-Identifier: Apache-2.0
// Up to 32 packets that go through the stages together, in the order of their arrival.
//
// A stage that comes upon a packet whose end may change what the stages decide by puts off those behind it: the burst
// then ends with that packet, and next_part() brings the others back when it is gone.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <utility>

#include "dataplane/packet/packet.hpp"

namespace softspine::dataplane {

inline constexpr uint32_t kBurstSize = 32;

class Burst {
 public:
  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == kBurstSize; }
  uint32_t room() const { return kBurstSize - size_; }
  [[gnu::always_inline]] void push(Packet packet) {
    assert(!full());
    packets_[size_++] = std::move(packet);
  }
  // The packets must have been moved out of their slots, and none be put off.
  void clear() { size_ = 0; }
  // From now on the burst has its first `count` packets; needs as many.
  void put_off_from(uint32_t count) {
    put_off_ += size_ - count;
    size_ = count;
  }
  void put_off_behind(const Packet& packet) { put_off_from(static_cast<uint32_t>(&packet - packets_.data()) + 1); }
  bool has_put_off() const { return put_off_ != 0; }
  bool needs_stages() const { return first_ < size_; }
  // Loops over the burst begin with this packet from now on: those before it need no more stages.
  void begin_at(uint32_t first) { first_ = first; }
  // The burst's packets have been moved out: those that were put off take their places.
  void next_part() {
    for (uint32_t i = 0; i < put_off_; ++i) packets_[i] = std::move(packets_[size_ + i]);
    size_ = std::exchange(put_off_, 0);
  }
  // For bulk fills of the raw array by an edge: fill `slots()`, then `set_size`.
  void set_size(uint32_t n) { size_ = n; }

  Packet& operator[](uint32_t i) { return packets_[i]; }
  Packet* begin() { return packets_.data() + first_; }
  Packet* end() { return packets_.data() + size_; }

 private:
  uint32_t size_ = 0;     // in one cache line with the first packets
  uint32_t put_off_ = 0;  // packets behind those
  uint32_t first_ = 0;    // where loops begin
  std::array<Packet, kBurstSize> packets_{};
};

}  // namespace softspine::dataplane
