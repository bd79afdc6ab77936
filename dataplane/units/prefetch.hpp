// SPDX-License-Identifier: Apache-2.0
// Prefetching what will be written soon. A prefetch changes no result: a place that is not needed, or none at all,
// costs time.
#pragma once

#include <cstddef>

namespace softspine::dataplane {

inline constexpr size_t kCacheLine = 64;

// Always inlined, as every function that prefetches: GCC 12 treats a function that only prefetches as without effect.
[[gnu::always_inline]] inline void prefetch(const void* place) {
  __builtin_prefetch(place, 1);
}
// `bytes` from `place` on, which begins a cache line or lies in one.
[[gnu::always_inline]] inline void prefetch(const void* place, size_t bytes) {
  for (size_t i = 0; i < bytes; i += kCacheLine) prefetch(static_cast<const std::byte*>(place) + i);
}

}  // namespace softspine::dataplane
