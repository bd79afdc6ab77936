// SPDX-License-Identifier: Apache-2.0
// Requests to a fabric while it runs, from any thread. Each request is done between two windows, on a worker's
// thread, which also makes the call that answers it. Captures are started by Captures, frames sent by FrameInjector.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "control/compile/compile.hpp"
#include "control/load/live_fault.hpp"
#include "control/telemetry/port_fill.hpp"
#include "control/telemetry/snapshot.hpp"
#include "testbeds/run/fault_control.hpp"
#include "testbeds/run/link_control.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class LiveControl : public RunPart {
 public:
  using SeeSwitch = std::function<void(const pipelines::Switch&, const control::RouteTable&, dataplane::Instant now)>;

  // All must outlive it. `snapshot_at`: of the whole fabric, from an action.
  LiveControl(const LocalNodes& nodes, const control::Compiler& compiler, LinkControl& links, FaultControl& faults,
              std::function<control::FabricSnapshot(dataplane::Instant now)> snapshot_at)
      : nodes_(nodes), compiler_(compiler), links_(links), faults_(faults), snapshot_at_(std::move(snapshot_at)) {}

  // `see` is called with a copy of all counters.
  void ask(std::function<void(control::FabricSnapshot)> see);
  // The same, and how full its switches' memory is, as far as they are here.
  void ask_with_fills(std::function<void(control::FabricSnapshot, control::PortFills)> see);
  // `see` looks at one switch and its routes. The switch is here.
  void ask_switch(uint32_t node, SeeSwitch see);
  // Called from ask_switch(): the file's, and the controller's now.
  const std::vector<control::Override>& overrides(uint32_t node) const { return compiler_.overrides_of(node); }

  void set_links(std::vector<uint32_t> links, bool up);
  // A switch gets the tables of another profile (LinkControl::use_profile).
  void use_profile(uint32_t node, uint32_t profile);
  // Hosts, ports and cables fail (FaultControl), and links (LinkControl). That links go down and up, and profiles, have
  // calls of their own.
  void inject_fault(control::LiveFault fault);
  // Clears those of one switch, or of all: they begin again.
  void clear_watermarks(std::optional<uint32_t> node);

 private:
  const LocalNodes& nodes_;
  const control::Compiler& compiler_;
  LinkControl& links_;
  FaultControl& faults_;
  std::function<control::FabricSnapshot(dataplane::Instant)> snapshot_at_;
};

}  // namespace softspine::testbeds
