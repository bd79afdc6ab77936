// SPDX-License-Identifier: Apache-2.0
// Where packets come from and go back to. One pool for each size of frame a fabric needs:
// a small one for built-in traffic (headers only), one with room for a jumbo frame for edges.
// Any thread that touches packets must be a worker (it needs an lcore id for its cache).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dataplane/packet/burst.hpp"
#include "dataplane/packet/packet.hpp"

namespace softspine::dataplane {

class PacketPool {
 public:
  // `count` packets of up to `room_bytes` stored bytes each. Throws std::runtime_error when memory is short.
  PacketPool(const std::string& name, uint32_t count, uint32_t room_bytes);
  ~PacketPool() = default;
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  // An empty handle when the pool has run dry. The packet has `stored` bytes of unset content, and
  // `frame_bytes` equal to them; the rest of the meta is unset but for verdict, flags and next.
  Packet make(uint32_t stored) noexcept {
    rte_mbuf* m = nullptr;
    if (rte_mempool_get(pool_.get(), reinterpret_cast<void**>(&m)) != 0) [[unlikely]]
      return Packet{};
    prefetch_later();
    reset(m, stored);
    return Packet{m};
  }

  // For pauses and credits, of which a port has one at a time: when the pool has run dry, from a small reserve. A
  // switch never lacks the memory to say XOFF.
  Packet make_urgent(uint32_t stored) noexcept;

  // A deep copy (flooding, mirrored answers); empty when the pool has run dry or is too small for it.
  Packet copy(const Packet& packet) noexcept;

  // Ends a packet of any pool. The only place where packets are freed.
  // A frame in one piece, as all are here, has nothing behind it: so the cache line that would say so is not read.
  static void release(Packet packet) noexcept {
    rte_mbuf* m = packet.take();
    if (rte_mbuf_refcnt_read(m) == 1 && m->nb_segs == 1 && RTE_MBUF_DIRECT(m)) [[likely]] {
      rte_mbuf_raw_free(m);
    } else {
      rte_pktmbuf_free_seg(m);
    }
  }

  uint32_t capacity() const { return capacity_; }
  uint32_t room_bytes() const { return room_bytes_; }
  // How many packets are out. Exact only while no worker runs.
  uint32_t in_use() const noexcept;
  rte_mempool* raw() const { return pool_.get(); }

  // Makes a fresh mbuf of any origin (a device's receive) into a packet that the stages can take.
  static void adopt(rte_mbuf* m) noexcept {
    PacketMeta* meta = Packet::meta_of(m);
    meta->next = nullptr;
    meta->frame_bytes = m->data_len;
    meta->verdict = Verdict::kContinue;
    meta->flags = 0;
    meta->remark = Remark::kNone;
  }

 private:
  // The packet that will be made some calls from now: another worker may have had it last.
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
  struct Free {
    void operator()(rte_mempool* pool) const noexcept { rte_mempool_free(pool); }
  };
  using Pool = std::unique_ptr<rte_mempool, Free>;
  static Pool make_pool(const std::string& name, uint32_t count, uint32_t room_bytes, uint32_t cache);

  uint32_t capacity_;
  uint32_t room_bytes_;
  Pool pool_;
  Pool reserve_;
};

}  // namespace softspine::dataplane
