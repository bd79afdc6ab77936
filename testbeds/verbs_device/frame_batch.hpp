// SPDX-License-Identifier: Apache-2.0
// Frames of one program that are made together: their payload is read out of the program in one call, then each gets
// its ICRC and leaves.
#pragma once

#include <array>
#include <cstdint>

#include "testbeds/verbs_device/rdma_frame.hpp"
#include "testbeds/verbs_device/rnic_ground.hpp"

namespace softspine::testbeds {

class FrameBatch {
 public:
  static constexpr uint32_t kFrames = 16;

  FrameBatch(RnicGround& ground, QueuePair& pair)
      : ground_(ground), pair_(pair), memory_(ground.objects.client_of(pair).reads) {}
  ~FrameBatch() { drop(); }
  FrameBatch(const FrameBatch&) = delete;
  FrameBatch& operator=(const FrameBatch&) = delete;

  bool is_full() const { return count_ == kFrames || !memory_.has_room(kPieceLimit); }
  bool empty() const { return count_ == 0; }
  // Of the NIC, for one more frame that is no acknowledgement; else the pair is to be asked again later.
  bool has_room_in_nic() noexcept {
    pair_.is_held_back = pair_.is_held_back || ground_.port.keeps_too_much();
    return !pair_.is_held_back && pair_.in_nic + count_ < QueuePair::kInNicLimit;
  }
  // The place of the new frame's payload, which the caller fills, or has memory() fill; null: no packet is left.
  uint8_t* add(const RoceAddress& to, const RdmaFields& fields, uint32_t payload_bytes) noexcept;
  ProcessMemory& memory() { return memory_; }
  // False: the program's memory cannot be read, and no frame has left.
  bool send(dataplane::Instant now) noexcept;

 private:
  struct Frame {
    dataplane::Packet packet;
    FrameLayout layout;
    dataplane::IpVersion version;
    uint32_t payload_bytes;
    bool is_request;
  };
  void drop() noexcept;

  RnicGround& ground_;
  QueuePair& pair_;
  ProcessMemory& memory_;
  uint32_t count_ = 0;
  std::array<Frame, kFrames> frames_;
};

}  // namespace softspine::testbeds
