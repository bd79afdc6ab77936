// SPDX-License-Identifier: Apache-2.0
// Requests to a fabric while it runs, from any thread. Each request is done between two windows, on a worker's
// thread, which also makes the call that answers it. Captures are started by Captures, frames sent by FrameInjector.
//
// Over ranks each call is made by all of them, from actions (rank_requests.hpp), and rank 0's answers are whole; only
// watch() is rank 0's.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "control/compile/compile.hpp"
#include "control/load/live_fault.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/port_fill.hpp"
#include "control/telemetry/snapshot.hpp"
#include "testbeds/run/fault_control.hpp"
#include "testbeds/run/flow_paths.hpp"
#include "testbeds/run/link_control.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/rank_requests.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class LiveControl : public RunPart {
 public:
  using SeeSwitch =
      std::function<control::Json(const pipelines::Switch&, const control::RouteTable&, dataplane::Instant now)>;

  // All must outlive it. `snapshot_at`: of the whole fabric, from an action.
  LiveControl(const LocalNodes& nodes, const RunFlows& flows, const control::Compiler& compiler, LinkControl& links,
              FaultControl& faults, RankRequests& requests,
              std::function<control::FabricSnapshot(dataplane::Instant now)> snapshot_at)
      : nodes_(nodes),
        flows_(flows),
        compiler_(compiler),
        links_(links),
        faults_(faults),
        requests_(requests),
        snapshot_at_(std::move(snapshot_at)) {}

  // `see` is called with a copy of all counters.
  void ask(std::function<void(control::FabricSnapshot)> see);
  // The same, from any thread of rank 0.
  void watch(std::function<void(control::FabricSnapshot)> see);
  // As ask(), and how full its switches' memory is.
  void ask_with_fills(std::function<void(control::FabricSnapshot, control::PortFills)> see);
  // The same, and the tables by which the run's flows find their ways (path_tables()).
  void ask_with_tables(std::function<void(control::FabricSnapshot, PathTables)> see);
  // `see` looks at one switch and its routes, on the rank that has it; `done` gets what it has seen.
  void ask_switch(uint32_t node, SeeSwitch see, std::function<void(control::Json)> done);
  const RunFlows& flows() const { return flows_; }
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

  void start() override;

 private:
  static constexpr const char* kWatch = "watch";
  control::RankPace pace();

  const LocalNodes& nodes_;
  const RunFlows& flows_;
  const control::Compiler& compiler_;
  LinkControl& links_;
  FaultControl& faults_;
  RankRequests& requests_;
  std::function<control::FabricSnapshot(dataplane::Instant)> snapshot_at_;
  std::mutex lock_;
  std::deque<std::function<void(control::FabricSnapshot)>> watchers_;  // whose requests are under way
  std::chrono::nanoseconds waited_{};
  std::chrono::steady_clock::time_point seen_;
};

}  // namespace softspine::testbeds
