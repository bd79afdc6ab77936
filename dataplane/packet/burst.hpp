// SPDX-License-Identifier: Apache-2.0
// Up to 32 packets that go through the stages together, in the order of their arrival.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>

#include "dataplane/packet/packet.hpp"

namespace softspine::dataplane {

inline constexpr uint32_t kBurstSize = 32;

class Burst {
 public:
  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == kBurstSize; }
  void push(Packet packet) {
    assert(!full());
    packets_[size_++] = std::move(packet);
  }
  // The packets must have been moved out of their slots.
  void clear() { size_ = 0; }
  // For bulk fills of the raw array by an edge: fill `slots()`, then `set_size`.
  void set_size(uint32_t n) { size_ = n; }

  Packet& operator[](uint32_t i) { return packets_[i]; }
  Packet* begin() { return packets_.data(); }
  Packet* end() { return packets_.data() + size_; }

 private:
  std::array<Packet, kBurstSize> packets_{};
  uint32_t size_ = 0;
};

}  // namespace softspine::dataplane
