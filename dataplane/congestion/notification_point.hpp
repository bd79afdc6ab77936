// SPDX-License-Identifier: Apache-2.0
// DCQCN's notification point, for one flow: which CE-marked packets are answered with a CNP.
//
//   a CNP for the first marked packet, and for the first one at or after `interval` since the last CNP
//   the CNP may leave `nic_delay` after the packet's last bit has arrived: who sends it keeps it until then
//
// At most one CNP an interval, and none without a mark: the paper's rule ("at most one CNP every N microseconds if
// any packet that arrives within that time was marked") without its timer: a mark inside the interval is not answered
// when the interval ends. N is 50 µs in the paper; an adapter calls it min_time_between_cnps.
// `nic_delay` is what the adapter itself needs for the CNP; the interval counts from arrivals, not from departures.
// Source: Zhu et al., Congestion Control for Large-Scale RDMA Deployments (SIGCOMM 2015), section 3.1.
#pragma once

#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class NotificationPoint {
 public:
  static constexpr Duration kInterval = Duration::us(50);

  // A marked packet of the flow came in at `now`: whether to send a CNP.
  bool answers(Instant now, Duration interval) {
    if (now < next_) return false;
    next_ = now + interval;
    return true;
  }

 private:
  Instant next_;
};

}  // namespace softspine::dataplane
