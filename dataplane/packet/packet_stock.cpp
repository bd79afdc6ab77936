// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/packet_stock.hpp"

#include <rte_mbuf.h>
#include <sys/mman.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "dataplane/packet/memory_shortage.hpp"

namespace softspine::dataplane {

namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;
constexpr size_t kChunkBytes = 32 * kHugePageBytes;

// Address space; null if even that is short. Memory comes with the first touch.
void* map(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

PacketStock& stock_of(const rte_mempool* pool) {
  return *static_cast<PacketStock*>(pool->pool_data);
}

const rte_mempool_ops& stock_ops() {
  static const rte_mempool_ops ops = [] {
    rte_mempool_ops out{.name = "softspine"};
    out.alloc = [](rte_mempool*) { return 0; };
    out.enqueue = [](rte_mempool* pool, void* const* mbufs, unsigned count) {
      stock_of(pool).put(mbufs, count);
      return 0;
    };
    out.dequeue = [](rte_mempool* pool, void** mbufs, unsigned count) {
      return stock_of(pool).take(mbufs, count) ? 0 : -ENOBUFS;
    };
    out.get_count = [](const rte_mempool* pool) { return stock_of(pool).free_count(); };
    return out;
  }();
  static const int registered = rte_mempool_register_ops(&ops);
  if (registered < 0) throw std::runtime_error("DPDK takes no more kinds of mempools");
  return ops;
}

}  // namespace

PacketStock::PacketStock(uint64_t limit, PacketBudget* budget)
    : limit_(limit), budget_(budget), free_(static_cast<void**>(map(limit * sizeof(void*)))) {
  if (free_ == nullptr)
    throw std::runtime_error("no address space for " + std::to_string(limit) +
                             " packets: " + memory_limit(read_memory_limits()));
}

PacketStock::~PacketStock() {
  if (budget_ != nullptr) budget_->release(made_ * stride_);
  for (const Chunk& chunk : chunks_) munmap(chunk.memory, chunk.bytes);
  munmap(free_, limit_ * sizeof(void*));
}

void PacketStock::attach(rte_mempool* pool) {
  pool_ = pool;
  stride_ = pool->header_size + pool->elt_size + pool->trailer_size;
  pool->pool_data = this;
  if (rte_mempool_set_ops_byname(pool, stock_ops().name, nullptr) != 0) {
    throw std::runtime_error("a mempool that does not take its ops");
  }
}

bool PacketStock::take(void** mbufs, uint32_t count) noexcept {
  const std::lock_guard guard{lock_};
  while (free_count_ < count) {
    if (!make_one()) return false;
  }
  for (uint32_t i = 0; i < count; ++i) mbufs[i] = free_[--free_count_];
  return true;
}

void PacketStock::put(void* const* mbufs, uint32_t count) noexcept {
  const std::lock_guard guard{lock_};
  std::copy_n(mbufs, count, free_ + free_count_);
  free_count_ += count;
}

bool PacketStock::make_one() noexcept {
  if (made_ == limit_ || (budget_ != nullptr && !budget_->take(stride_))) return false;
  if (static_cast<size_t>(end_ - next_) < stride_ && !add_chunk()) {
    if (budget_ != nullptr) budget_->release(stride_);
    return false;
  }
  void* mbuf = next_ + pool_->header_size;
  rte_mempool_objhdr* header = rte_mempool_get_header(mbuf);
  header->mp = pool_;
  header->iova = RTE_BAD_IOVA;
  rte_pktmbuf_init(pool_, nullptr, mbuf, 0);
  rte_mbuf_iova_set(static_cast<rte_mbuf*>(mbuf), RTE_BAD_IOVA);  // init has added the header to it
  next_ += stride_;
  ++made_;
  free_[free_count_++] = mbuf;
  return true;
}

bool PacketStock::add_chunk() noexcept {
  const size_t bytes = kChunkBytes + kHugePageBytes;
  void* memory = map(bytes);
  if (memory == nullptr) return false;
  chunks_.push_back({memory, bytes});
  next_ = RTE_PTR_ALIGN_CEIL(static_cast<char*>(memory), kHugePageBytes);
  end_ = next_ + kChunkBytes;
  madvise(next_, kChunkBytes, MADV_HUGEPAGE);
  return true;
}

uint32_t PacketStock::free_count() const noexcept {
  const std::lock_guard guard{lock_};
  return static_cast<uint32_t>(free_count_);
}

uint64_t PacketStock::made() const noexcept {
  const std::lock_guard guard{lock_};
  return made_;
}

}  // namespace softspine::dataplane
