// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/pool.hpp"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_memcpy.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <span>
#include <stdexcept>

#include "dataplane/packet/memory_shortage.hpp"

namespace softspine::dataplane {

namespace {

static_assert(kNoNumaNode == SOCKET_ID_ANY);

constexpr uint32_t kCachePerWorker = 512;  // the mempool's own maximum
constexpr uint32_t kCacheFlushFactor = 2;  // a cache holds up to 1.5 × its size; half of the limit keeps it legal
constexpr const char* kPoison = "SOFTSPINE_POISON";
// Mbufs need not lie together, nor on one page each.
constexpr unsigned kOwnMemory = RTE_MEMPOOL_F_NO_IOVA_CONTIG;

uint32_t element_bytes(uint32_t room_bytes) {
  return static_cast<uint32_t>(sizeof(rte_mbuf) + sizeof(PacketMeta)) + RTE_PKTMBUF_HEADROOM + room_bytes;
}

// The allocator's own error is whatever went wrong last, which may have nothing to do with it.
std::string why_no_memory(uint64_t bytes, int numa_node) {
  const bool hugepages = rte_eal_has_hugepages() != 0;
  const std::string shortage = hugepages
                                   ? hugepage_shortage(bytes, read_hugepages(hugepage_folder(numa_node)), numa_node)
                                   : memory_shortage(bytes, read_memory_limits());
  return shortage.empty() ? rte_strerror(rte_errno) : shortage;
}

}  // namespace

PacketPool::PacketPool(const PoolConfig& config)
    : room_bytes_(config.room_bytes),
      poisons_(std::getenv(kPoison) != nullptr),
      budget_(config.budget),
      stock_(config.for_devices ? nullptr : std::make_unique<PacketStock>(packets_of(config), config.budget)),
      pool_(make_pool(config, stock_.get())) {}

uint64_t PacketPool::packets_of(const PoolConfig& config) {
  if (config.budget == nullptr) return config.packet_limit;
  return std::min(config.packet_limit, config.budget->limit_bytes() / memory_bytes(config.room_bytes) + 1);
}

PacketPool::Pool PacketPool::make_pool(const PoolConfig& config, PacketStock* stock) {
  const auto limit = static_cast<uint32_t>(std::min<uint64_t>(config.packet_limit, UINT32_MAX));
  const uint32_t cache = limit / kCacheFlushFactor < kCachePerWorker ? 0 : kCachePerWorker;
  Pool pool{rte_mempool_create_empty(config.name.c_str(), limit, element_bytes(config.room_bytes), cache,
                                     sizeof(rte_pktmbuf_pool_private), config.numa_node,
                                     stock == nullptr ? 0 : kOwnMemory)};
  if (pool) {
    rte_pktmbuf_pool_private shape{};
    shape.mbuf_data_room_size = static_cast<uint16_t>(RTE_PKTMBUF_HEADROOM + config.room_bytes);
    shape.mbuf_priv_size = sizeof(PacketMeta);
    rte_pktmbuf_pool_init(pool.get(), &shape);
    if (stock != nullptr) {
      stock->attach(pool.get());
      return pool;
    }
    rte_mempool_set_ops_byname(pool.get(), rte_mbuf_best_mempool_ops(), nullptr);
    if (rte_mempool_populate_default(pool.get()) == static_cast<int>(limit)) {
      rte_mempool_obj_iter(pool.get(), rte_pktmbuf_init, nullptr);
      return pool;
    }
  }
  throw std::runtime_error(
      "packet pool '" + config.name + "' of " + std::to_string(limit) + " × " + std::to_string(config.room_bytes) +
      " B: " + why_no_memory(uint64_t{limit} * element_bytes(config.room_bytes), config.numa_node));
}

uint64_t PacketPool::made() const noexcept {
  return stock_ ? stock_->made() : pool_->populated_size;
}

uint64_t PacketPool::in_use() const noexcept {
  return made() - rte_mempool_avail_count(pool_.get());
}

uint32_t PacketPool::memory_bytes(uint32_t room_bytes) {
  return rte_mempool_calc_obj_size(element_bytes(room_bytes), kOwnMemory, nullptr);
}

uint32_t PacketPool::room_in_a_page() {
  constexpr uint32_t kPage = 4'096;
  uint32_t room = kPage;
  while (rte_mempool_calc_obj_size(element_bytes(room), 0, nullptr) > kPage) room -= RTE_CACHE_LINE_SIZE;
  return room;
}

Packet PacketPool::none() noexcept {
  if (budget_ != nullptr) budget_->miss();
  return Packet{};
}

// The whole element behind the mbuf: the meta, and the room for data.
void PacketPool::poison(rte_mbuf* m) noexcept {
  static std::atomic<uint64_t> next{std::strtoull(std::getenv(kPoison), nullptr, 10)};
  uint64_t with = next += 0x9E3779B97F4A7C15;
  with = (with ^ with >> 30) * 0xBF58476D1CE4E5B9;
  const std::span words{reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(m) + sizeof(rte_mbuf)),
                        (m->pool->elt_size - sizeof(rte_mbuf)) / sizeof(uint64_t)};
  std::ranges::fill(words, with ^ with >> 27);
}

Packet PacketPool::copy(const Packet& packet) noexcept {
  const uint32_t stored = packet.stored_bytes();
  Packet out = make_any(stored);
  if (!out) return out;
  rte_memcpy(out.data(), packet.data(), stored);
  const PacketMeta source = packet.meta();
  out.meta() = source;
  out.set_flow(packet.flow());
  if (packet.is_copy()) out.mark_as_copy();
  return out;
}

}  // namespace softspine::dataplane
