// SPDX-License-Identifier: Apache-2.0
// Finds circular waits in a fabric: switches that have paused each other in a ring, so that none can ever send.
//
// A queue waits for another:  A (switch a, port towards b, priority p), paused and not empty, waits for
//   B (switch b, some port, priority p), paused and not empty, if something in B came in by the link from a:
//   what is held in B is why b paused a.
// A deadlock: queues that wait for each other in a circle (a strongly connected component), none of which has sent
//   anything since the last look. A deadlock takes two looks in a row, so pauses that come and go are none.
// Each deadlock is reported once; again if it dissolves and comes back.
// Source: Hu et al., "Deadlocks in Datacenter Networks" (HotNets 2016): the cyclic buffer dependency.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "control/model/fabric.hpp"
#include "dataplane/egress/stuck_queue.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// One queue of a circle: the switch's port, towards the next one's switch.
struct WaitingQueue {
  LinkEnd port;
  uint8_t priority = 0;
  friend auto operator<=>(const WaitingQueue&, const WaitingQueue&) = default;
};

struct Deadlock {
  dataplane::Instant found;
  std::vector<WaitingQueue> circle;  // each waits for the next, the last for the first; begins with the smallest

  // tor1:Ethernet0 → spine1:Ethernet4 → tor1, priority 3
  std::string text(const Fabric& fabric) const;
};

class DeadlockWatch {
 public:
  // The fabric must outlive the DeadlockWatch.
  explicit DeadlockWatch(const Fabric& fabric) : fabric_(fabric) {}

  struct StuckSwitch {
    uint32_t node = 0;
    std::vector<dataplane::StuckQueue> queues;
  };
  // The ports of its switch by which the packets in a queue have come in, ascending. Costly, so it is called only where
  // it may matter.
  using Sources = std::function<std::vector<dataplane::PortNo>(const WaitingQueue&)>;
  // `stuck`: the queues that are stuck now; switches without one may be left out. Returns the deadlocks that are new.
  std::vector<Deadlock> look(const std::vector<StuckSwitch>& stuck, const Sources& sources, dataplane::Instant now);

 private:
  const Fabric& fabric_;
  std::map<WaitingQueue, uint64_t> sent_;      // as of the last look
  std::set<std::vector<WaitingQueue>> known_;  // those that still exist
};

}  // namespace softspine::control
