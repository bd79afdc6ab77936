// SPDX-License-Identifier: Apache-2.0
#include "dataplane/engine/worker_meeting.hpp"

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

WorkerMeeting::WorkerMeeting(uint32_t workers, const std::vector<std::unique_ptr<Node>>& nodes)
    : nodes_(nodes),
      workers_(workers),
      spins_before_yield_(has_core_each(workers) ? kSpinsBeforeYield : 1),
      slots_(std::make_unique<Slot[]>(workers)),
      own_(std::make_unique<Own[]>(workers)),
      outboxes_(size_t{workers} * workers) {}

Outbox& WorkerMeeting::outbox(uint32_t from, uint32_t to) {
  std::unique_ptr<Outbox>& out = outboxes_[size_t{from} * workers_ + to];
  if (!out) {
    out = std::make_unique<Outbox>();
    own_[from].outgoing.push_back(out.get());
    own_[to].incoming.push_back(out.get());
  }
  return *out;
}

WindowReport WorkerMeeting::meet_others(uint32_t worker, WindowReport mine) noexcept {
  Own& own = own_[worker];
  for (Outbox* const outbox : own.outgoing) mine.next = std::min(mine.next, outbox->close_window());
  ++own.closings;
  const WindowReport all = await_others(worker, mine);
  for (Outbox* const outbox : own.incoming) {
    outbox->empty_closed(own.closings, [this](Message& message) { deliver(message); });
  }
  return all;
}

WindowReport WorkerMeeting::await_others(uint32_t worker, const WindowReport& mine) noexcept {
  const uint64_t round = ++own_[worker].round;
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
    all.combine(slots_[i].reports[round & 1]);
  }
  return all;
}

void WorkerMeeting::deliver_all() noexcept {
  for (const auto& outbox : outboxes_) {
    if (outbox) outbox->empty_both([this](Message& message) { deliver(message); });
  }
}

void WorkerMeeting::see_messages(const std::function<void(const Message&)>& see) const {
  for (const auto& outbox : outboxes_) {
    if (outbox) outbox->for_each(see);
  }
}

}  // namespace softspine::dataplane
