// SPDX-License-Identifier: Apache-2.0
// The free mbufs of a pool that no worker's cache holds, last in, first out. When there are too few, the stock makes
// new ones.
//
// A stock stands behind a mempool as its "ops", so packets are made from and go back to the workers' caches as in any
// mempool; its lock is taken once for hundreds of packets. A new mbuf is cut from a chunk of address space when it is
// wanted for the first time, and only then is its memory touched: a fabric takes memory for the packets that were
// under way at once and for those in the workers' caches.
//
// Last in, first out: where some workers make packets and others end them, a ring would hand out every packet of the
// pool in turn, each long out of all caches.
//
// Memory is our own, in transparent huge pages: DPDK's, without hugepages, is made of 4 KiB pages, and half of what a
// packet costs is then TLB misses. No device's DMA reaches it: its packets have no IO address (has_io_address()), and
// pools for devices are made by DPDK (PacketPool).
#pragma once

#include <rte_mempool.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "dataplane/packet/packet_budget.hpp"

namespace softspine::dataplane {

class PacketStock {
 public:
  // At most `limit` mbufs, and no more than the budget allows; the budget may be null. Throws std::runtime_error.
  PacketStock(uint64_t limit, PacketBudget* budget);
  ~PacketStock();
  PacketStock(const PacketStock&) = delete;
  PacketStock& operator=(const PacketStock&) = delete;

  // Before the first packet: makes the mempool take its mbufs from here. The mempool must end before the stock.
  void attach(rte_mempool* pool);

  // All or none.
  bool take(void** mbufs, uint32_t count) noexcept;
  void put(void* const* mbufs, uint32_t count) noexcept;
  uint32_t free_count() const noexcept;
  // How many mbufs there are: free, in caches, and under way.
  uint64_t made() const noexcept;

 private:
  struct Chunk {
    void* memory;
    size_t bytes;
  };
  bool make_one() noexcept;
  bool add_chunk() noexcept;

  uint64_t limit_;
  PacketBudget* budget_;
  rte_mempool* pool_ = nullptr;
  size_t stride_ = 0;  // from one mbuf to the next
  mutable std::mutex lock_;
  void** free_ = nullptr;  // address space for `limit_` of them
  uint64_t free_count_ = 0;
  uint64_t made_ = 0;
  char* next_ = nullptr;  // up to end_: the part of the last chunk that is not cut yet
  char* end_ = nullptr;
  std::vector<Chunk> chunks_;
};

}  // namespace softspine::dataplane
