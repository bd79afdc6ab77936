// SPDX-License-Identifier: Apache-2.0
// The seam between windows: where all who run a part of the fabric meet. They exchange how far they are, take
// the same decision from the same numbers, and messages change sides.
//
//   a window ends    every worker calls meet() once. It returns when all have come
//   control acts     every worker calls wait(); one acts, and all call wait() again. Packets that an action has sent
//                    reach their nodes by share_action(), before the next one
// The engine asks for outboxes before the first window, and for nothing but this afterwards.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "dataplane/engine/clock.hpp"
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

  void combine(const WindowReport& other) {
    next = std::min(next, other.next);
    horizon = std::min(horizon, other.horizon);
    action = std::min(action, other.action);
    act |= other.act;
    stop |= other.stop;
    busy |= other.busy;
  }
};

class Meeting {
 public:
  virtual ~Meeting() = default;

  // Before the first window: where senders of worker `from` put what is for nodes of worker `to`.
  virtual Outbox& outbox(uint32_t from, uint32_t to) = 0;

  // Before the first window, after all outboxes: the clock starts at `origin`, at the same time for all.
  virtual void start_clock(Clock& clock, Instant origin) noexcept { clock.start(origin); }

  // Returns all reports combined: instants by minimum, flags by OR. Packets sent to the worker's nodes in the window
  // are in their inboxes then.
  virtual WindowReport meet(uint32_t worker, const WindowReport& mine) noexcept = 0;
  // Returns when all workers have called it.
  virtual void wait(uint32_t worker) noexcept = 0;

  // While all workers but the caller wait, or none runs. Every message that is under way to a node of this process is
  // in its inbox afterwards …
  virtual void deliver_all() noexcept = 0;
  // … and every other one at its node, once all ranks have called this. Returns the earliest of their `next`: whether
  // one of them has an action still to run.
  virtual Instant share_action(Instant next) noexcept = 0;
  // Ends those that an action has sent to a port elsewhere, and that have not left. (Those of nodes here: deliver_all.)
  virtual void take_back(NodeId to, PortNo port, const std::function<void(Packet)>& end) noexcept = 0;
  // After the last run: ends those that are for nodes elsewhere.
  virtual void drain() noexcept = 0;
  // What is under way to nodes of this process.
  virtual void see_messages(const std::function<void(const Message&)>& see) const = 0;
};

}  // namespace softspine::dataplane
