// SPDX-License-Identifier: Apache-2.0
// The ledger of a run's faults: what each has cost (control/telemetry/loss_window.hpp). LinkControl and FaultControl
// report what begins, changes and ends; each lost packet goes to one fault or to none (loss_causes.hpp); flows that
// stand still are looked for while a fault is open (stall_look.hpp), and are the fault's that stopped them
// (stall_causes.hpp) until they move again.
//
// A run in which nothing can fail has no recorder and no look. One whose testbed has no faults begins with the first
// that is injected: what was lost before is then known as counts only.
// Maximum: 65,536 flows over all faults are listed; packets of others are counted (unlisted_packets).
//
// Everything here happens in engine actions, or while nothing runs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/telemetry/loss_window.hpp"
#include "control/telemetry/snapshot.hpp"
#include "testbeds/run/loss_causes.hpp"
#include "testbeds/run/loss_recording.hpp"
#include "testbeds/run/run_part.hpp"
#include "testbeds/run/stall_causes.hpp"
#include "testbeds/run/stall_look.hpp"

namespace softspine::testbeds {

class LossWindows : public RunPart {
 public:
  // All outlive this.
  LossWindows(const control::Testbed& testbed, const LocalNodes& nodes, const RunFlows& flows);

  // If the testbed has faults.
  void start() override;

  // Before anything of it happens. Returns the fault's number.
  uint32_t begin(FaultScope scope, dataplane::Instant now);
  void detected(uint32_t fault, dataplane::Instant now);
  // The last switch has followed.
  void converged(uint32_t fault, dataplane::Instant now);
  // The failed part works again. `as_before`: routes are as they were, too.
  void ended(uint32_t fault, dataplane::Instant now);
  void restored(uint32_t fault, dataplane::Instant now);
  // For a fault that is over: all is no longer as before, or not yet.
  void reopen(uint32_t fault, dataplane::Instant now);
  // Routes are computed over these links from now on.
  void set_links(const std::vector<bool>& usable, dataplane::Instant now);

  // Flows that still stand still do so until then.
  void finish(dataplane::Instant now) override;
  // The cost of each of its faults, and of all together.
  void snapshot(control::FabricSnapshot& out) override;

 private:
  bool has_any() const { return recording_.has_started(); }
  control::LossWindow window(uint32_t fault);
  control::LossAccount account();
  // A fault's cost for one flow.
  struct FlowCost {
    control::FlowLoss loss;
    dataplane::Instant first_lost = dataplane::Instant::never();
    dataplane::Instant last_lost = {};
  };
  struct Entry {
    control::LossWindow window;
    FaultScope scope;
    std::map<std::string, control::LossSum> reasons;
    std::map<uint32_t, FlowCost> flows;
    dataplane::Instant restored = dataplane::Instant::never();
    dataplane::Instant moved;  // the last stall's end
    bool is_open = true;
  };

  void begin_recording();
  void attribute_losses(dataplane::Instant now);
  void add(const dataplane::LossRecord& record);
  bool is_missed(const dataplane::LossRecord& record) const;
  FlowCost* flow_of(Entry& entry, uint32_t flow);
  void change(dataplane::Instant now);
  dataplane::Duration time_of_a_refresh(const FaultScope& scope) const;
  void look_at(dataplane::Instant when);
  void look(dataplane::Instant now);
  void note(const std::vector<Stall>& stalls, dataplane::Instant now);
  void close_what_is_over(dataplane::Instant now);
  Entry* cause_of(const Stall& stall);
  uint32_t most_suspect(const Stall& stall) const;
  void note_at(Entry& entry, const Stall& stall);

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  const RunFlows& flows_;
  LossRecording recording_;
  LossCauses causes_;
  StallLook stalls_;
  std::vector<Entry> entries_;  // by number
  std::map<std::string, control::LossSum> unexplained_;
  std::map<std::string, control::LossSum> before_;
  std::vector<uint64_t> lost_of_flow_;
  std::vector<uint32_t> stands_by_;  // by flow: the fault that it stands still by, or kNone
  size_t listed_ = 0;
  uint64_t looks_planned_ = 0;  // only the latest is still to come: one before it is no look any more
  bool looks_ = false;
  bool is_whole_ = false;
  bool finished_ = false;
};

}  // namespace softspine::testbeds
