// SPDX-License-Identifier: Apache-2.0
// A group of the nest (window_nest.hpp) at work: its parts, by the instant of their next event. To the group around it
// it is one part, whose next event is the earliest of its own.
//
//   run(until)         windows of this group's lookahead, one after another, up to `until`
//   run_window(until)  one window: every part with an event before `until` runs up to it
//
// A part that sends to another within the window wakes it, and so the groups around it, at an instant after the window.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/engine/window_nest.hpp"
#include "dataplane/link/node.hpp"
#include "dataplane/link/schedule.hpp"

namespace softspine::dataplane {

class WindowGroup {
 public:
  explicit WindowGroup(Duration lookahead = Duration::max()) : lookahead_(lookahead) {}
  WindowGroup(const WindowGroup&) = delete;
  WindowGroup& operator=(const WindowGroup&) = delete;

  // Called before the first run.
  void adopt(Node& node);
  WindowGroup& adopt_group(Duration lookahead);

  Instant next() const { return schedule_.next(); }
  Instant run(Instant until) noexcept;
  void run_window(Instant until) noexcept;

  // Nodes that ran, over all windows, with those of the groups in it.
  uint64_t node_runs() const;

 private:
  static void prefetch_after(const std::vector<ScheduleSlot*>& due, size_t now) noexcept;
  Instant run_part(const ScheduleSlot& slot, Instant until) noexcept;

  Schedule schedule_;
  Duration lookahead_;
  ScheduleSlot slot_{.group = this};  // in the schedule of the group around it
  std::vector<std::unique_ptr<WindowGroup>> groups_;
  uint64_t node_runs_ = 0;
  bool prefetches_ = false;  // its nodes
};

}  // namespace softspine::dataplane
