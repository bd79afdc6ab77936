// SPDX-License-Identifier: Apache-2.0
// A NIC's own watchdog: it ends the pauses of a NIC whose receive side has stopped.
//
//   stopped   the port wants its peer paused, and since `patience` ago nothing has left its receive buffer
//   fired     once stopped: from then on the NIC sends no pause frame. It sends no XON either: the peer goes on when
//             the last pause has run out. What comes then and finds no room is dropped
// It is never undone by itself: a server in that state is repaired, which ends the fault (reset()).
// Source: Guo et al., "RDMA over Commodity Ethernet at Scale", SIGCOMM 2016, section 4.3: 100 ms.
#pragma once

#include "dataplane/units/time.hpp"

namespace softspine::testbeds {

class NicWatchdog {
 public:
  NicWatchdog() = default;
  // Zero: never.
  explicit NicWatchdog(dataplane::Duration patience) : patience_(patience) {}

  // Whether the port wants its peer paused, whenever that may have changed.
  void look(bool wants_pause, dataplane::Instant now) {
    if (!wants_pause) since_ = dataplane::Instant::never();
    if (wants_pause && since_.is_never()) since_ = now;
  }
  // A packet has left the receive buffer.
  void moved(dataplane::Instant now) {
    if (!since_.is_never()) since_ = now;
  }
  dataplane::Instant due() const {
    const bool sleeps = fired_ || patience_ == dataplane::Duration{} || since_.is_never();
    return sleeps ? dataplane::Instant::never() : since_ + patience_;
  }
  // True if it fires now.
  bool fire(dataplane::Instant now) {
    if (due() > now) return false;
    fired_ = true;
    return true;
  }
  void reset() {
    fired_ = false;
    since_ = dataplane::Instant::never();
  }
  bool fired() const { return fired_; }

 private:
  dataplane::Duration patience_;
  dataplane::Instant since_ = dataplane::Instant::never();
  bool fired_ = false;
};

}  // namespace softspine::testbeds
