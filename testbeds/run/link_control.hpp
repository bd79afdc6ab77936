// SPDX-License-Identifier: Apache-2.0
// Links go up and down, and routes follow.
//
//   T                  the link's state changes: frames on it are lost and counted, queues before it are emptied, and
//                      until routes follow, packets that are still routed there are dropped as link_down
//   T + convergence    routes are computed anew, and every switch whose routes have changed gets its new tables
//
// A switch that gets another profile while it runs is published in the same way.
//
// Everything here happens in engine actions, while the workers stand still.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "control/compile/compile.hpp"
#include "control/routing/routes.hpp"
#include "control/telemetry/snapshot.hpp"
#include "testbeds/run/assembly.hpp"

namespace softspine::testbeds {

class LinkControl {
 public:
  // All three must outlive the LinkControl.
  LinkControl(const control::Testbed& testbed, control::Compiler& compiler, Assembly& assembly);

  // Before the first window: every switch gets its tables, the testbed's faults are scheduled.
  void start();

  // From an action. Links that already have this state are left as they are.
  void set(const std::vector<uint32_t>& links, bool up, dataplane::Instant now);

  // From an action: the switch works by another profile of the testbed from now on. Packets that wait are judged by the
  // new profile, and none is lost. control::why_not_change says whether the switch may change to it.
  void use_profile(uint32_t node, uint32_t profile, dataplane::Instant now);

  bool up(uint32_t link) const { return up_[link]; }
  const control::RouteTable& routes(uint32_t node) const { return (*routes_)[node]; }
  uint32_t route_changes() const { return static_cast<uint32_t>(followed_.size()); }
  // Each switch that got new tables as links changed, in order.
  struct Followed {
    dataplane::Instant at;
    uint32_t node = 0;
  };
  const std::vector<Followed>& followed() const { return followed_; }
  // What has changed so far, in order.
  const std::vector<control::FaultSnapshot>& struck() const { return struck_; }

 private:
  void follow(dataplane::Instant now);

  const control::Testbed& testbed_;
  control::Compiler& compiler_;
  Assembly& assembly_;
  std::vector<bool> up_;  // by link
  std::shared_ptr<const std::vector<control::RouteTable>> routes_;
  std::vector<control::FaultSnapshot> struck_;
  std::vector<Followed> followed_;
};

}  // namespace softspine::testbeds
