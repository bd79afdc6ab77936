// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/pool.hpp"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_memcpy.h>
#include <sys/mman.h>

#include <stdexcept>

namespace softspine::dataplane {

namespace {
constexpr uint32_t kCachePerWorker = 512;  // the mempool's own maximum
constexpr uint32_t kCacheFlushFactor = 2;  // a cache holds up to 1.5 × its size; count / 2 keeps it legal
constexpr size_t kHugePageBytes = size_t{2} << 20;
constexpr uint32_t kReservePackets = 4'095;
constexpr uint32_t kReserveRoom = 64;  // a MAC control frame

// A packet may then lie across two pages, which only a device's DMA would mind.
bool own_memory() {
  return rte_eal_has_hugepages() == 0;
}

void* map_huge(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void unmap(rte_mempool_memhdr* header, void*) {
  munmap(header->addr, header->len);
}

// Memory of our own in transparent huge pages: DPDK's, without hugepages, is made of 4 KiB pages, and
// half of what a packet costs is then TLB misses. With hugepages, DPDK's own (a NIC can reach it).
bool populate(rte_mempool* pool, uint32_t count) {
  if (!own_memory()) return rte_mempool_populate_default(pool) >= 0;
  size_t least_chunk = 0;
  size_t alignment = 0;
  const ssize_t bytes = rte_mempool_op_calc_mem_size_default(pool, count, 0, &least_chunk, &alignment);
  if (bytes <= 0) return false;
  const size_t length = RTE_ALIGN_CEIL(static_cast<size_t>(bytes) + alignment, kHugePageBytes);
  auto* memory = static_cast<char*>(map_huge(length));
  if (memory == nullptr) return false;
  // One chunk, at its own virtual address: nothing here is reached by a device's DMA.
  const int made =
      rte_mempool_populate_iova(pool, memory, reinterpret_cast<rte_iova_t>(memory), length, unmap, nullptr);
  if (made <= 0) munmap(memory, length);
  return made == static_cast<int>(count);
}

// Last in, first out: where some workers make packets and others end them, a ring would hand out every packet
// of the pool in turn, each long out of all caches. Its lock is taken once for hundreds of packets, by the
// workers' caches.
void set_order(rte_mempool* pool) {
  if (rte_mempool_set_ops_byname(pool, "stack", nullptr) != 0) {
    rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), nullptr);
  }
}

}  // namespace

PacketPool::PacketPool(const std::string& name, uint32_t count, uint32_t room_bytes)
    : capacity_(count),
      room_bytes_(room_bytes),
      pool_(make_pool(name, count, room_bytes, count / kCacheFlushFactor < kCachePerWorker ? 0 : kCachePerWorker)),
      reserve_(make_pool(name + "-urgent", kReservePackets, kReserveRoom, 0)) {}

PacketPool::Pool PacketPool::make_pool(const std::string& name, uint32_t count, uint32_t room_bytes, uint32_t cache) {
  const auto data_room = static_cast<uint16_t>(RTE_PKTMBUF_HEADROOM + room_bytes);
  const uint32_t element = static_cast<uint32_t>(sizeof(rte_mbuf) + sizeof(PacketMeta)) + data_room;
  Pool pool{rte_mempool_create_empty(name.c_str(), count, element, cache, sizeof(rte_pktmbuf_pool_private),
                                     SOCKET_ID_ANY, own_memory() ? RTE_MEMPOOL_F_NO_IOVA_CONTIG : 0)};
  if (pool) {
    rte_pktmbuf_pool_private shape{};
    shape.mbuf_data_room_size = data_room;
    shape.mbuf_priv_size = sizeof(PacketMeta);
    set_order(pool.get());
    rte_pktmbuf_pool_init(pool.get(), &shape);
    if (populate(pool.get(), count)) {
      rte_mempool_obj_iter(pool.get(), rte_pktmbuf_init, nullptr);
      return pool;
    }
  }
  throw std::runtime_error("packet pool '" + name + "' of " + std::to_string(count) + " × " +
                           std::to_string(room_bytes) + " B: " + rte_strerror(rte_errno));
}

uint32_t PacketPool::in_use() const noexcept {
  return rte_mempool_in_use_count(pool_.get()) + rte_mempool_in_use_count(reserve_.get());
}

Packet PacketPool::make_urgent(uint32_t stored) noexcept {
  Packet packet = make(stored);
  rte_mbuf* m = nullptr;
  if (packet || stored > kReserveRoom || rte_mempool_get(reserve_.get(), reinterpret_cast<void**>(&m)) != 0)
    return packet;
  reset(m, stored);
  return Packet{m};
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
