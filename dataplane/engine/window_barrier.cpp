// SPDX-License-Identifier: Apache-2.0
#include "dataplane/engine/window_barrier.hpp"

#include <sched.h>
#include <x86intrin.h>

#include <algorithm>

namespace softspine::dataplane {

namespace {
constexpr int kSpinsBeforeYield = 4000;  // ≈ 50 µs: longer than a usual window, shorter than a time slice

// Workers that have no core each wait for one that cannot run while they spin.
bool has_core_each(uint32_t workers) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return sched_getaffinity(0, sizeof cores, &cores) != 0 || workers <= static_cast<uint32_t>(CPU_COUNT(&cores));
}

}  // namespace

void WindowBarrier::resize(uint32_t workers) {
  workers_ = workers;
  slots_ = std::make_unique<Slot[]>(workers);
  spins_before_yield_ = has_core_each(workers) ? kSpinsBeforeYield : 1;
}

WindowReport WindowBarrier::meet_others(uint32_t worker, uint64_t round, const WindowReport& mine) noexcept {
  slots_[worker].reports[round & 1] = mine;
  slots_[worker].round.store(round, std::memory_order_release);
  WindowReport all = mine;
  for (uint32_t i = 0; i < workers_; ++i) {
    if (i == worker) continue;
    int spins = 0;
    while (slots_[i].round.load(std::memory_order_acquire) < round) {
      if (++spins < spins_before_yield_) {
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
