// SPDX-License-Identifier: Apache-2.0
// Links go up and down, their frames die unseen, they are drained; and routes follow.
//
//   down       the link's state changes: frames on it are lost and counted, queues before it are emptied, and until
//              routes follow, packets that are still routed there are dropped as link_down
//   dead       frames die (one direction, or all links of a node), the links stay up: only BFD sees it, or, where
//              `carrier: goes`, loss of signal
//   drained    routes leave, but where there is no other way; the links go down later, or not at all
//   up         all of these are over
// A LAG's members follow at once: its links leave it when they go down, or when their frames' death is detected.
// Without `detection` routes follow `convergence` after links go down or up, and nobody sees frames die. With it routes
// follow once a state has lasted as long as its detection takes: a link that flaps faster is not noticed. How routes
// follow: route_waves.hpp.
//
// A switch that gets another profile while it runs is published in the same way.
//
// Everything here happens in engine actions, while the workers stand still.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/compile/compile.hpp"
#include "control/model/testbed.hpp"
#include "control/routing/routes.hpp"
#include "control/telemetry/snapshot.hpp"
#include "testbeds/run/incidents.hpp"
#include "testbeds/run/link_state.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/loss_windows.hpp"
#include "testbeds/run/route_waves.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class LinkControl : public RunPart {
 public:
  // All must outlive the LinkControl.
  LinkControl(const control::Testbed& testbed, control::Compiler& compiler, const LocalNodes& nodes,
              LossWindows& losses, Incidents& incidents);

  // Before the first window: every switch gets its tables, the testbed's faults are scheduled.
  void start() override;
  // LAGs, and how often routes followed.
  void snapshot(control::FabricSnapshot& out) override;

  // Called from an action. Links that already have this state are left as they are.
  void set(const std::vector<uint32_t>& links, bool up, dataplane::Instant now);
  // From an action: an end of the link that is outside has lost its carrier, or has it again. The link is up if set()
  // wants it up and no end has lost its carrier.
  void set_lost(uint32_t link, bool lost, dataplane::Instant now);
  // From an action: the switch at one end shuts the links, or opens them again; `what` is the fault that begins.
  void set_shut(const std::vector<uint32_t>& links, bool shut, const std::string& what, dataplane::Instant now);
  // From an action, or before start(): routes leave the links out although they are up, or no longer: LACP has not
  // agreed on their use (`why`: not_agreed), or a stack holds the other end for lost (peer_lost).
  void set_unused(const std::vector<uint32_t>& links, bool LinkState::* why, bool unused, dataplane::Instant now);
  // From an action: whatever the fault does to links, from now on; `until` and `links_after` count from now.
  void strike(const control::Fault& fault, dataplane::Instant now);

  // From an action: the switch works by another profile of the testbed from now on. Packets that wait are judged by the
  // new profile, and none is lost. control::profile_change_error decides whether the switch may change to it.
  void use_profile(uint32_t node, uint32_t profile, dataplane::Instant now);

  // From an action: the controller's overrides of a switch, in place of those before. Returns whether they differ.
  bool use_engineered(uint32_t node, std::vector<control::Override> overrides, dataplane::Instant now);

  bool up(uint32_t link) const { return states_[link].up; }
  uint32_t count() const { return static_cast<uint32_t>(states_.size()); }
  const LinkState& state(uint32_t link) const { return states_[link]; }
  // Before start(): `see` is called in the action in which links have changed.
  void on_change(std::function<void(dataplane::Instant now)> see) { see_change_ = std::move(see); }
  const control::RouteTable& routes(uint32_t node) const { return waves_.routes(node); }
  const std::vector<control::RouteTable>& all_routes() const { return waves_.all(); }
  const std::vector<bool>& lag_members() const { return waves_.lag_members(); }
  // From an action: the tables of all switches (route_waves.hpp).
  std::vector<std::shared_ptr<const dataplane::ForwardingState>> tables() { return waves_.tables(); }

 private:
  // A fault of links that is not over.
  struct Open {
    uint32_t fault;
    control::FaultKind kind;
    std::vector<uint32_t> links;          // that have it still
    std::vector<control::LinkEnd> ports;  // whose frames die
  };
  // The faults that a change of links began and ended, until routes have followed it.
  struct Change {
    std::vector<uint32_t> links;
    std::vector<uint64_t> changes;  // of LinkState, by link: later ones supersede it
    std::vector<uint32_t> begun;    // faults
    std::vector<uint32_t> ended;
  };

  void take_down(const std::vector<uint32_t>& links, const std::string& what, dataplane::Instant now);
  void kill(const control::Fault& fault, dataplane::Instant now);
  void drain(const control::Fault& fault, dataplane::Instant now);
  void repair(const std::vector<uint32_t>& links, dataplane::Instant now);
  void reopen(const std::vector<uint32_t>& links, bool by_signal, dataplane::Instant now);
  void end_death(uint32_t fault, dataplane::Instant now);
  // The faults that are over, since none of their links has them any more.
  std::vector<uint32_t> close_faults(dataplane::Instant now);
  bool has_fault(uint32_t link, control::FaultKind kind) const;
  // A link on which LACP has not agreed since the fault is not as before: then the fault is restored later, or again.
  void restore(uint32_t fault, dataplane::Instant now);
  void restore_agreed(dataplane::Instant now);
  void go_down_drained(uint32_t fault, dataplane::Instant now);
  void set_dead(const std::vector<control::LinkEnd>& ports, bool dead);
  void set_carriers(const std::vector<uint32_t>& links, bool up, dataplane::Instant now);
  uint32_t open(const control::Fault& fault, const std::string& what, dataplane::Instant now);
  Change change_of(const std::vector<uint32_t>& links);
  void show_to_routes(const std::vector<uint32_t>& links, dataplane::Instant now);
  std::optional<dataplane::Duration> detection_of(bool by_signal) const;
  void notice(Change change, bool by_signal, dataplane::Instant now);
  // `followed` is called when the last switch has followed.
  void detect(const Change& change, dataplane::Instant now, RouteWaves::Done followed = {});

  const control::Testbed& testbed_;
  control::Compiler& compiler_;
  const LocalNodes& nodes_;
  LossWindows& losses_;
  Incidents& incidents_;
  std::vector<LinkState> states_;  // by link
  RoutedLinks routed_;             // as routing sees them
  RouteWaves waves_;
  std::vector<Open> open_;
  std::vector<uint32_t> latest_;  // by link: the fault that struck it last; kNone: LACP had not agreed before
  std::set<uint32_t> waiting_;    // faults that are over, until LACP agrees
  std::map<control::LinkEnd, uint32_t> dead_;  // ports whose frames die: by how many faults
  std::function<void(dataplane::Instant)> see_change_;
};

}  // namespace softspine::testbeds
