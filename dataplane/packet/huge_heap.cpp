// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/huge_heap.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "dataplane/packet/memory_shortage.hpp"

namespace softspine::dataplane {

namespace {

constexpr int kHeapBytes =
    2'046 << 20;  // of address space, all that mallopt() takes; memory comes with the first touch
constexpr int kOwnPagesFrom = 32 << 20;  // bytes of a block; mallopt() takes no more
constexpr int kUsualPad = 128 << 10;

}  // namespace

bool use_huge_pages_for_heap() {
  const MemoryLimits limits = read_memory_limits();
  if (limits.address_space || limits.strict_commit) return false;
  mallopt(M_MMAP_THRESHOLD, kOwnPagesFrom);
  mallopt(M_TOP_PAD, kHeapBytes);
  // The heap grows by a block that it has no room for.
  const auto end = [] { return reinterpret_cast<uintptr_t>(sbrk(0)); };
  const uintptr_t before = end();
  void* volatile block = std::malloc(kUsualPad * size_t{8});  // volatile: a compiler takes out what nobody uses
  const bool has_grown = end() - before >= kHeapBytes / 2;
  // An error is a kernel without huge pages.
  if (has_grown) {
    madvise(reinterpret_cast<void*>(before), end() - before, MADV_HUGEPAGE);
  } else {
    mallopt(M_TOP_PAD, kUsualPad);
    mallopt(M_MMAP_THRESHOLD, kUsualPad);
  }
  std::free(block);
  return has_grown;
}

}  // namespace softspine::dataplane
