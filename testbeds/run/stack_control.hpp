// SPDX-License-Identifier: Apache-2.0
// The two switches of a stack watch each other (control/model/stack.hpp), as vPC's do.
//
//   the peer link is lost      when it goes down; while frames die on it, keepalive_timeout after the last keepalive
//                              that came over it. Routes leave it.
//   … then for hold_timeout    nothing: it may be a switch that goes down, whose control plane ends last
//   … then a keepalive comes   over the management network: both live. The secondary shuts its ports to hosts with
//      from the other one      ports at both; the primary goes on alone
//   … or none comes for        the switch goes on alone, as the primary. If the other one is the primary and lives,
//      keepalive_timeout       since there is no management network, both are: a split brain
//   the peer link is back      with the first keepalive that comes over it. Ports that were shut open after another
//                              delay_restore
//
// A switch has a data plane and a control plane. `set: dead` ends the first alone: its control plane goes on saying
// that it lives. Both are down while all of its links are asked to be; when it is back, it is the secondary of one that
// lives, and its ports to hosts stay shut for delay_restore.
//
// So a primary whose data plane dies takes the rack with it: nothing passes it, and the secondary shuts its ports.
//
// Keepalives are not packets: what they would find is computed. They go at every multiple of keepalive_interval; one at
// the very instant of a fault is lost. Everything here happens in engine actions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/telemetry/snapshot.hpp"
#include "testbeds/run/assembly.hpp"
#include "testbeds/run/incidents.hpp"
#include "testbeds/run/link_control.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

// The last keepalive before `now` (the start, if there was none), and the first from `now` on.
dataplane::Instant last_keepalive(dataplane::Instant now, dataplane::Duration interval);
dataplane::Instant next_keepalive(dataplane::Instant now, dataplane::Duration interval);

class StackControl : public RunPart {
 public:
  // All must outlive it.
  StackControl(const control::Testbed& testbed, dataplane::Engine& engine, LinkControl& links, Incidents& incidents);

  void snapshot(control::FabricSnapshot& out) override;

 private:
  struct Member {
    uint32_t node = 0;
    std::vector<uint32_t> host_links;  // of hosts with ports at both; ascending
    bool lives = true;                 // its control plane
    control::StackMemberSnapshot is;
  };
  struct Run {
    const control::Stack* config = nullptr;
    std::array<Member, 2> members;  // as configured: primary, secondary
    bool passes = true;             // the peer link
    bool lost = false;              // and held for that
    uint64_t changes = 0;           // of the above: what is scheduled is over after the next
    uint64_t peer_losses = 0;
    uint64_t split_brains = 0;

    bool both_live() const { return members[0].lives && members[1].lives; }
  };
  using Step = void (StackControl::*)(Run&, dataplane::Instant);

  std::vector<uint32_t> host_links_of(const control::Stack& stack, uint32_t node) const;
  bool any_link_asked(uint32_t node) const;
  void look(Run& run, dataplane::Instant now);
  void end_member(const Run& run, Member& member, dataplane::Instant now);
  void return_member(const Run& run, Member& member, const Member& other, dataplane::Instant now);
  // `step` follows unless something changes before.
  void follow_with(Run& run, Step step, dataplane::Instant at);
  void lose_peer(Run& run, dataplane::Instant now);
  void disable_secondary(Run& run, dataplane::Instant now);
  void go_on_alone(Run& run, dataplane::Instant now);
  void receive_keepalive(Run& run, dataplane::Instant now);
  void restore(Run& run, dataplane::Instant now);
  static void agree_on_roles(Run& run);
  void use_peer_links(const Run& run, bool use, dataplane::Instant now);
  void tell(const Run& run, const std::string& what, dataplane::Instant now);

  const control::Testbed& testbed_;
  dataplane::Engine& engine_;
  LinkControl& links_;
  Incidents& incidents_;
  std::vector<Run> runs_;
};

}  // namespace softspine::testbeds
