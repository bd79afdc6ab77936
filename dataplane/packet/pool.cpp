// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/pool.hpp"

#include <rte_errno.h>
#include <rte_memcpy.h>

#include <stdexcept>

namespace softspine::dataplane {

namespace {
constexpr uint32_t kCachePerWorker = 512;  // the mempool's own maximum
constexpr uint32_t kCacheFlushFactor = 2;  // a cache holds up to 1.5 × its size; count / 2 keeps it legal
}  // namespace

PacketPool::PacketPool(const std::string& name, uint32_t count, uint32_t room_bytes)
    : capacity_(count), room_bytes_(room_bytes) {
  const uint32_t cache = count / kCacheFlushFactor < kCachePerWorker ? 0 : kCachePerWorker;
  pool_ = rte_pktmbuf_pool_create(name.c_str(), count, cache, sizeof(PacketMeta),
                                  static_cast<uint16_t>(RTE_PKTMBUF_HEADROOM + room_bytes), SOCKET_ID_ANY);
  if (pool_ == nullptr) {
    throw std::runtime_error("packet pool '" + name + "' of " + std::to_string(count) + " × " +
                             std::to_string(room_bytes) + " B: " + rte_strerror(rte_errno));
  }
}

PacketPool::~PacketPool() {
  rte_mempool_free(pool_);
}

uint32_t PacketPool::in_use() const noexcept {
  return rte_mempool_in_use_count(pool_);
}

Packet PacketPool::copy(const Packet& packet) noexcept {
  const uint32_t stored = packet.stored_bytes();
  if (stored > room_bytes_) return Packet{};
  Packet out = make(stored);
  if (!out) return out;
  rte_memcpy(out.data(), packet.data(), stored);
  const PacketMeta source = packet.meta();
  out.meta() = source;
  return out;
}

}  // namespace softspine::dataplane
