// SPDX-License-Identifier: Apache-2.0
// Where packets come from and go back to. One pool for each size of frame a fabric needs:
// a small one for built-in traffic (headers only), one with room for a jumbo frame for edges.
// Any thread that touches packets must be a worker (it needs an lcore id for its cache).
//
// A pool holds as many packets as are under way: it grows (packet_stock.hpp) up to its number or its budget, so the
// amount of memory changes no result. An empty handle means that the run is over (packet_budget.hpp): a caller that
// gets one must only lose no other packet and count none twice.
//
// In tests (the environment variable SOFTSPINE_POISON is set, to a number) each packet comes with other bytes, in its
// meta too: who reads what nobody wrote gets another result in each run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dataplane/packet/burst.hpp"
#include "dataplane/packet/memory_shortage.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/packet_stock.hpp"

namespace softspine::dataplane {

struct PoolConfig {
  std::string name;
  uint32_t room_bytes;  // stored bytes of a packet at most
  uint64_t packet_limit = UINT32_MAX;
  PacketBudget* budget = nullptr;  // outlives the pool
  bool for_devices = false;        // DPDK's own memory for all of them at once: what a device's DMA can reach
  int numa_node = kNoNumaNode;     // where that memory lies
};

class PacketPool {
 public:
  // Throws std::runtime_error when memory is short.
  explicit PacketPool(const PoolConfig& config);
  PacketPool(const std::string& name, uint32_t packet_limit, uint32_t room_bytes)
      : PacketPool(PoolConfig{.name = name, .room_bytes = room_bytes, .packet_limit = packet_limit}) {}
  ~PacketPool() = default;
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  // Needs stored ≤ room_bytes(). An empty handle when memory has run out. The packet has `stored` bytes of unset
  // content, and `frame_bytes` equal to them; the rest of the meta is unset but for verdict, flags, next, is_sound and
  // has_right_sums.
  Packet make(uint32_t stored) noexcept {
    rte_mbuf* m = nullptr;
    if (rte_mempool_get(pool_.get(), reinterpret_cast<void**>(&m)) != 0) [[unlikely]]
      return none();
    prefetch_later();
    if (poisons_) [[unlikely]]
      poison(m);
    reset(m, stored);
    return Packet{m};
  }

  // From this pool or, if the packet does not fit, from the first larger one with the room (set_larger). Empty if
  // none has it, or memory has run out.
  Packet make_any(uint32_t stored) noexcept {
    PacketPool* pool = this;
    while (pool != nullptr && stored > pool->room_bytes_) pool = pool->larger_;
    return pool == nullptr ? Packet{} : pool->make(stored);
  }
  // Called before the first packet. The larger pool outlives this one.
  void set_larger(PacketPool* pool) { larger_ = pool; }

  // A deep copy (flooding, mirrored answers), as make_any() makes it.
  Packet copy(const Packet& packet) noexcept;

  // Ends a packet of any pool. The only place where packets are freed. All frames here are in one segment, so the
  // mbuf's second cache line, which would name the next one, is not read.
  static void release(Packet packet) noexcept {
    rte_mbuf* m = packet.take();
    if (rte_mbuf_refcnt_read(m) == 1 && m->nb_segs == 1 && RTE_MBUF_DIRECT(m)) [[likely]] {
      rte_mbuf_raw_free(m);
    } else {
      rte_pktmbuf_free_seg(m);
    }
  }

  uint32_t room_bytes() const { return room_bytes_; }
  // How many packets are out. Exact only while no worker runs.
  uint64_t in_use() const noexcept;
  // How many packets there are: out, or waiting to be used again.
  uint64_t made() const noexcept;
  // The memory that one packet of such a pool takes.
  static uint32_t memory_bytes(uint32_t room_bytes);
  // The most room with which a packet and all that belongs to it lie within 4 KiB: what the kernel takes for AF_XDP.
  static uint32_t room_in_a_page();
  rte_mempool* raw() const { return pool_.get(); }

  // Whether a device's DMA reaches the packet's bytes: it is of a pool for devices.
  static bool has_io_address(const rte_mbuf* m) noexcept { return rte_mbuf_iova_get(m) != RTE_BAD_IOVA; }

  // Makes a fresh mbuf of any origin (a device's receive) into a packet that the stages can take.
  static void adopt(rte_mbuf* m) noexcept {
    PacketMeta* meta = Packet::meta_of(m);
    meta->next = nullptr;
    meta->frame_bytes = m->data_len;
    meta->verdict = Verdict::kContinue;
    meta->flags = 0;
    meta->remark = Remark::kNone;
    meta->is_sound = false;
    meta->has_right_sums = false;
    m->hash.usr = kNoFlow;
  }

 private:
  // Prefetches the packet that will be made some calls from now, since another worker may have had it last.
  void prefetch_later() noexcept {
    constexpr uint32_t kAhead = 4;
    const rte_mempool_cache* cache = rte_mempool_default_cache(pool_.get(), rte_lcore_id());
    if (cache != nullptr && cache->len >= kAhead) {
      Packet::prefetch(static_cast<rte_mbuf*>(cache->objs[cache->len - kAhead]));
    }
  }
  static void reset(rte_mbuf* m, uint32_t stored) noexcept {
    m->data_off = RTE_PKTMBUF_HEADROOM;
    m->data_len = static_cast<uint16_t>(stored);
    m->pkt_len = stored;
    m->nb_segs = 1;
    m->ol_flags = 0;
    adopt(m);
  }
  [[gnu::noinline]] Packet none() noexcept;
  [[gnu::noinline]] static void poison(rte_mbuf* m) noexcept;

  struct Free {
    void operator()(rte_mempool* pool) const noexcept { rte_mempool_free(pool); }
  };
  using Pool = std::unique_ptr<rte_mempool, Free>;
  static uint64_t packets_of(const PoolConfig& config);
  static Pool make_pool(const PoolConfig& config, PacketStock* stock);

  uint32_t room_bytes_;
  bool poisons_;
  PacketPool* larger_ = nullptr;
  PacketBudget* budget_;
  std::unique_ptr<PacketStock> stock_;  // null: DPDK's memory
  Pool pool_;
};

}  // namespace softspine::dataplane
