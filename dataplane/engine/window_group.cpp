// SPDX-License-Identifier: Apache-2.0
#include "dataplane/engine/window_group.hpp"

#include <algorithm>

#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

void WindowGroup::adopt(Node& node) {
  node.attach(&schedule_);
  prefetches_ = !node.is_cached();
  schedule_.wake(node.slot(), Instant{});  // its first run returns when it wants the next
}

WindowGroup& WindowGroup::adopt_group(Duration lookahead) {
  WindowGroup& group = *groups_.emplace_back(std::make_unique<WindowGroup>(lookahead));
  group.schedule_.is_part_of(schedule_, group.slot_);
  return group;
}

Instant WindowGroup::run(Instant until) noexcept {
  for (;;) {
    const Instant next = schedule_.next();
    if (next >= until) return next;
    run_window(std::min(next + lookahead_, until));
  }
}

void WindowGroup::run_window(Instant until) noexcept {
  const std::vector<ScheduleSlot*>& due = schedule_.take(until);
  for (size_t i = 0; i < due.size(); ++i) {
    if (prefetches_) [[unlikely]]
      prefetch_after(due, i);
    ScheduleSlot* const slot = due[i];
    const Instant next = run_part(*slot, until);
    SOFTSPINE_CHECK(next >= until, next.count_ps(), until.count_ps());
    schedule_.put(*slot, next);
  }
}

// Prefetches for the parts behind the one that runs now: each step (node.hpp) one part ahead of the next.
void WindowGroup::prefetch_after(const std::vector<ScheduleSlot*>& due, size_t now) noexcept {
  const auto node = [&](size_t ahead) -> const Node* {
    return now + ahead < due.size() ? due[now + ahead]->node : nullptr;
  };
  if (now == 0 && node(1) != nullptr) node(1)->prefetch_itself();
  if (node(2) != nullptr) node(2)->prefetch_itself();
  if (node(1) != nullptr) node(1)->prefetch_state();
}

Instant WindowGroup::run_part(const ScheduleSlot& slot, Instant until) noexcept {
  if (slot.group != nullptr) return slot.group->run(until);
  ++node_runs_;
  slot.node->reach(slot.next);
  return slot.node->run(until);
}

uint64_t WindowGroup::node_runs() const {
  uint64_t sum = node_runs_;
  for (const auto& group : groups_) sum += group->node_runs();
  return sum;
}

}  // namespace softspine::dataplane
