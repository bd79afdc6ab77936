// SPDX-License-Identifier: Apache-2.0
// Routes follow links, switch by switch.
//
//   plain                          every switch gets its new routes `convergence` after the change
//   detection                      after a change is detected: the switches beside it at once, all others `convergence`
//                                  later, or with convergence_per_hop each one hop's time after its neighbour
// A change spreads over the links that are usable. A switch that learns of a later change knows the earlier ones, too.
// Until the last switch has learned, each works by what of its new routes cannot lead in a circle (control/routing/
// mixed_routes.hpp). A switch that no way leads to learns last.
//
// Everything here happens in engine actions, while the workers stand still.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "control/compile/compile.hpp"
#include "control/model/testbed.hpp"
#include "control/routing/routes.hpp"
#include "testbeds/run/incidents.hpp"
#include "testbeds/run/local_nodes.hpp"

namespace softspine::testbeds {

// The states, by link. Routes take usable links; what these do not lead to is routed over the last resort, too: all
// usable links, and drained ones. A LAG's members are those of its links that have a carrier and that LACP has agreed
// on, and of these the usable ones, unless they are too few: then drained ones, too. A switch drops packets that have
// no other way than a host's port on which LACP has not agreed, as for a LAG without members.
struct RoutedLinks {
  std::vector<bool> usable;
  std::vector<bool> last_resort;
  std::vector<bool> carrier;
  std::vector<bool> agreed;  // by LACP, where it runs
};

class RouteWaves {
 public:
  using Done = std::function<void(dataplane::Instant now)>;

  // All must outlive this. `links` are read whenever routes are computed.
  RouteWaves(const control::Testbed& testbed, control::Compiler& compiler, const LocalNodes& nodes,
             const RoutedLinks& links, Incidents& incidents)
      : testbed_(testbed), compiler_(compiler), nodes_(nodes), links_(links), incidents_(incidents) {}

  // Before the first window: every switch gets its tables.
  void start();
  bool has_started() const { return routes_ != nullptr; }
  // `links` have changed, or are known to have: routes follow, and `done` is called when the last switch has.
  void follow(const std::vector<uint32_t>& links, dataplane::Instant now, Done done);
  // The use of these links may have changed: of LAGs that have other members now, and of hosts' ports, the switches at
  // both ends know at once, whenever routes follow. Each switch is published once.
  void follow_members(const std::vector<uint32_t>& links, dataplane::Instant now);
  // The switch's profile or its overrides have changed: its tables are made anew.
  void publish_again(uint32_t node, dataplane::Instant now);

  // By link: it is a member of its LAG now; without a LAG, LACP has agreed on it, if it runs there.
  const std::vector<bool>& lag_members() const { return members_; }
  const control::RouteTable& routes(uint32_t node) const { return (*routes_)[node]; }
  const std::vector<control::RouteTable>& all() const { return *routes_; }
  // By node: the tables by which switches work now; null at hosts. Those of switches elsewhere are made here when they
  // are asked for, since all ranks decide alike, and kept until they change.
  std::vector<std::shared_ptr<const dataplane::ForwardingState>> tables();
  // How many switches got new tables as links changed, summed up.
  uint32_t changes() const { return changes_; }

  static bool spreads(const control::Testbed& testbed) {
    return testbed.detection.has_value() || testbed.convergence_per_hop.has_value();
  }

 private:
  // A change that some switches have learned of.
  struct Wave {
    uint64_t number = 0;
    std::shared_ptr<const std::vector<control::RouteTable>> wanted;
    std::vector<std::vector<uint32_t>> rings;  // switches by distance from the change
    Done done;
  };
  std::shared_ptr<const std::vector<control::RouteTable>> compute() const;
  void follow_at_once(dataplane::Instant now);
  std::vector<std::vector<uint32_t>> rings_around(const std::vector<uint32_t>& links) const;
  void reach(const std::shared_ptr<Wave>& wave, size_t ring, dataplane::Instant now);
  void learn(const Wave& wave, const std::vector<uint32_t>& nodes);
  void take_what_is_safe(dataplane::Instant now);
  bool is_switch(uint32_t node) const { return testbed_.fabric.nodes[node].kind == control::NodeKind::kSwitch; }
  // To the switch, wherever it is.
  void publish(uint32_t node, dataplane::Instant now);
  void note_change(uint32_t node, dataplane::Instant now);
  // Whether there was something to follow.
  bool follow_members(const control::Lag& lag);

  const control::Testbed& testbed_;
  control::Compiler& compiler_;
  const LocalNodes& nodes_;
  const RoutedLinks& links_;
  Incidents& incidents_;
  uint32_t changes_ = 0;
  std::shared_ptr<const std::vector<control::RouteTable>> routes_;
  std::vector<bool> members_;
  std::vector<std::shared_ptr<const dataplane::ForwardingState>> elsewhere_;  // by node; null: not made
  // While changes spread.
  uint64_t waves_ = 0;
  std::vector<control::RouteTable> mixed_;                          // what each switch works by
  std::vector<uint64_t> learned_;                                   // by node: the latest wave that it has learned of
  std::vector<std::shared_ptr<const control::RouteTable>> wanted_;  // by node: of that wave; null before the first
};

}  // namespace softspine::testbeds
