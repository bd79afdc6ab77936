// SPDX-License-Identifier: Apache-2.0
// Whom a host tells of its work, and when it wakes them.
#pragma once

#include <utility>

#include "dataplane/units/time.hpp"
#include "testbeds/hosts/work_queue.hpp"

namespace softspine::testbeds {

class HostWork {
 public:
  // Null: nobody.
  void listen(WorkEvents* events) noexcept { events_ = events; }
  // Once, and no longer at an instant asked for before; never(): not at all.
  void wake_at(dataplane::Instant at) noexcept { due_ = at; }

  dataplane::Instant due() const noexcept { return due_; }
  void act(dataplane::Instant now) noexcept {
    if (due_ > now) return;
    due_ = dataplane::Instant::never();
    if (events_ != nullptr) events_->woken(now);
  }

 private:
  dataplane::Instant due_ = dataplane::Instant::never();
  WorkEvents* events_ = nullptr;
};

}  // namespace softspine::testbeds
