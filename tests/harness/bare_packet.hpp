// SPDX-License-Identifier: Apache-2.0
// A packet without a pool, so that a test of who only reads packets needs no EAL.
#pragma once

#include <cstring>
#include <new>
#include <string>

#include "dataplane/packet/packet.hpp"

namespace softspine::tests {

class BarePacket {
 public:
  // `frame_bytes` 0: as long as stored.
  explicit BarePacket(const std::string& stored, uint32_t frame_bytes = 0) {
    auto* mbuf = new (memory_) rte_mbuf{};
    mbuf->priv_size = sizeof(dataplane::PacketMeta);
    mbuf->buf_addr = memory_ + sizeof(rte_mbuf) + sizeof(dataplane::PacketMeta);
    mbuf->data_len = static_cast<uint16_t>(stored.size());
    std::memcpy(mbuf->buf_addr, stored.data(), stored.size());
    packet_ = dataplane::Packet{mbuf};
    packet_.meta().frame_bytes = frame_bytes == 0 ? static_cast<uint32_t>(stored.size()) : frame_bytes;
  }
  ~BarePacket() { packet_.take(); }
  BarePacket(const BarePacket&) = delete;
  BarePacket& operator=(const BarePacket&) = delete;
  const dataplane::Packet& operator*() const { return packet_; }

 private:
  static constexpr size_t kRoom = 2048;
  alignas(64) uint8_t memory_[sizeof(rte_mbuf) + sizeof(dataplane::PacketMeta) + kRoom]{};
  dataplane::Packet packet_;
};

}  // namespace softspine::tests
