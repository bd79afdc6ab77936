// SPDX-License-Identifier: Apache-2.0
// One packet outside any pool, to find out what a switch would do with a frame without running the switch: parse,
// route and rewrite take it like any other packet. Such a packet never leaves its owner: it can't be queued or freed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "dataplane/packet/packet.hpp"

namespace softspine::dataplane {

class ScratchPacket {
 public:
  ScratchPacket() : memory_(std::make_unique<Memory>()) {
    auto* mbuf = new (memory_->bytes) rte_mbuf{};
    new (memory_->bytes + sizeof(rte_mbuf)) PacketMeta{};  // where rte_mbuf_to_priv looks for it
    mbuf->buf_addr = memory_->bytes + sizeof(rte_mbuf) + sizeof(PacketMeta);
    mbuf->buf_len = RTE_PKTMBUF_HEADROOM + kMaxFrameBytes;
    packet_ = Packet{mbuf};
  }
  ScratchPacket(ScratchPacket&&) = default;
  ScratchPacket& operator=(ScratchPacket&&) = delete;
  ~ScratchPacket() { packet_.take(); }

  // `stored` are the frame's bytes in memory, at most kMaxFrameBytes.
  Packet& load(std::span<const uint8_t> stored, uint32_t frame_bytes) {
    rte_mbuf& m = *packet_.mbuf();
    m.data_off = RTE_PKTMBUF_HEADROOM;
    m.data_len = static_cast<uint16_t>(stored.size());
    m.pkt_len = m.data_len;
    m.nb_segs = 1;
    packet_.meta() = {};
    packet_.meta().frame_bytes = frame_bytes;
    packet_.meta().reason = DropReason::kCount;
    std::ranges::copy(stored, packet_.data());
    return packet_;
  }
  Packet& packet() { return packet_; }

 private:
  static constexpr size_t kBytes = sizeof(rte_mbuf) + sizeof(PacketMeta) + RTE_PKTMBUF_HEADROOM + kMaxFrameBytes;
  struct Memory {
    alignas(RTE_CACHE_LINE_SIZE) uint8_t bytes[kBytes];
  };
  std::unique_ptr<Memory> memory_;
  Packet packet_;
};

}  // namespace softspine::dataplane
