// SPDX-License-Identifier: Apache-2.0
// The seam between windows: where all who run a part of the fabric meet. They exchange how far they are, take
// the same decision from the same numbers, and messages change sides.
//
//   a window ends    every worker calls meet() once. It returns when all have come
//   control acts     every worker calls wait(); one acts, and all call wait() again. Packets that the action has sent
//                    reach their nodes by deliver_all()
// The engine asks for outboxes before the first window, and for nothing but this afterwards.
#pragma once

#include <cstdint>
#include <functional>

#include "dataplane/link/outbox.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct WindowReport {
  Instant next = Instant::never();     // earliest event in my nodes; of all: in messages, too
  Instant horizon = Instant::never();  // how far my clock lets me go
  Instant action = Instant::never();   // worker 0: the next timed action
  bool act = false;                    // worker 0: something was posted
  bool stop = false;                   // worker 0: stop was asked for
  bool busy = false;                   // an edge of mine had or has something to do
};

class Meeting {
 public:
  virtual ~Meeting() = default;

  // Before the first window: where senders of worker `from` put what is for nodes of worker `to`.
  virtual Outbox& outbox(uint32_t from, uint32_t to) = 0;

  // Returns all reports combined: instants by minimum, flags by OR. Packets sent to the worker's nodes in the window
  // are in their inboxes then.
  virtual WindowReport meet(uint32_t worker, const WindowReport& mine) noexcept = 0;
  // Returns when all workers have called it.
  virtual void wait(uint32_t worker) noexcept = 0;

  // While all workers but the caller wait, or none runs: every message that is under way is in its node's inbox
  // afterwards; and what is under way.
  virtual void deliver_all() noexcept = 0;
  virtual void see_messages(const std::function<void(const Message&)>& see) const = 0;
};

}  // namespace softspine::dataplane
