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

  FrameBatch(RnicGround& ground, ProcessMemory& memory) : ground_(ground), memory_(memory) {}
  ~FrameBatch() { drop(); }
  FrameBatch(const FrameBatch&) = delete;
  FrameBatch& operator=(const FrameBatch&) = delete;

  bool is_full() const { return count_ == kFrames || !memory_.has_room(kPieceLimit); }
  bool empty() const { return count_ == 0; }
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
  };
  void drop() noexcept;

  RnicGround& ground_;
  ProcessMemory& memory_;
  uint32_t count_ = 0;
  std::array<Frame, kFrames> frames_;
};

}  // namespace softspine::testbeds
