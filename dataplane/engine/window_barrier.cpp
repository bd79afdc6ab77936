// SPDX-License-Identifier: Apache-2.0
#include "dataplane/engine/window_barrier.hpp"

#include <sched.h>
#include <x86intrin.h>

#include <algorithm>

namespace softspine::dataplane {

namespace {
constexpr int kSpinsBeforeYield = 4000;  // ≈ 50 µs: longer than a usual window, shorter than a time slice
}

WindowReport WindowBarrier::meet_others(uint32_t worker, uint64_t round, const WindowReport& mine) noexcept {
  slots_[worker].reports[round & 1] = mine;
  slots_[worker].round.store(round, std::memory_order_release);
  WindowReport all = mine;
  for (uint32_t i = 0; i < workers_; ++i) {
    if (i == worker) continue;
    int spins = 0;
    while (slots_[i].round.load(std::memory_order_acquire) < round) {
      if (++spins < kSpinsBeforeYield) {
        _mm_pause();
      } else {
        sched_yield();
      }
    }
    const WindowReport& other = slots_[i].reports[round & 1];
    all.next = std::min(all.next, other.next);
    all.horizon = std::min(all.horizon, other.horizon);
    all.action = std::min(all.action, other.action);
    all.act |= other.act;
    all.stop |= other.stop;
    all.busy |= other.busy;
  }
  return all;
}

}  // namespace softspine::dataplane
