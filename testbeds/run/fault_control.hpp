// SPDX-License-Identifier: Apache-2.0
// Cables that lose frames, ports that do not react to PFC or send nothing, built-in hosts that fail: by the testbed's
// schedule, and asked for while it runs.
//
// A fault replaces an earlier one of its kind at the same port or host; the end of the replaced fault then has no
// effect. Which frames a cable loses follows from (seed, port, how many faults that cable's end has had), so it is the
// same for any number of workers.
//
// Links that go down, and switches that change their profile, are LinkControl's.
// Everything here happens in engine actions, while the workers stand still.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "control/load/live_fault.hpp"
#include "control/telemetry/snapshot.hpp"
#include "testbeds/run/incidents.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/loss_windows.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class FaultControl : public RunPart {
 public:
  // All must outlive the FaultControl.
  FaultControl(const control::Testbed& testbed, const LocalNodes& nodes, LossWindows& losses, Incidents& incidents)
      : testbed_(testbed), nodes_(nodes), losses_(losses), incidents_(incidents) {}

  // Before the first window: the testbed's faults are scheduled.
  void start() override;

  // From an action: the fault begins now, and its `until` counts from now.
  void inject(const control::HostFault& fault, dataplane::Instant now);
  void inject(const control::PortFault& fault, dataplane::Instant now);

 private:
  // The place of a fault: its kind, the node, and the port (hosts fail with all of theirs).
  using Place = std::tuple<control::FaultKind, uint32_t, uint16_t>;

  // A fault that is at work at `places` of them.
  struct AtWork {
    uint32_t number = 0;  // in the ledger of losses
    size_t places = 0;
  };
  // The fault is at work there from now on, in the place of what has been.
  void occupy(const Place& place, dataplane::Instant now);
  // The fault that is at work there is so no longer. False if there was none.
  bool leave(const Place& place, dataplane::Instant now);
  void strike(std::string what, FaultScope scope, dataplane::Instant now);

  template <typename Fault>
  void happen(const Fault& fault, dataplane::Instant now, dataplane::Instant until);
  void begin(const control::HostFault& fault, dataplane::Instant now);
  void begin(const control::PortFault& fault, dataplane::Instant now);
  void end(const control::HostFault& fault, uint64_t number, dataplane::Instant now);
  void end(const control::PortFault& fault, uint64_t number, dataplane::Instant now);
  void set_host(const control::HostFault& fault, bool fails, dataplane::Instant now);
  SlowReceiver slow_receiver(const control::HostFault& fault, uint16_t port) const;
  void set_port(const control::PortFault& fault, control::LinkEnd port, bool fails, dataplane::Instant now);
  void set_cable(const control::PortFault& fault, control::LinkEnd port, bool fails);
  void set_deaf(control::LinkEnd port, uint8_t priorities, dataplane::Instant now);
  void set_tx(control::LinkEnd port, bool enabled, dataplane::Instant now);

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  LossWindows& losses_;
  Incidents& incidents_;
  uint64_t begun_ = 0;                              // faults so far: each has a number
  std::map<Place, uint64_t> at_work_;               // the number of the fault that is at work there
  std::map<uint64_t, AtWork> works_;                // by that number
  std::map<control::LinkEnd, uint64_t> faults_of_;  // how many faults this end of the cable has had
};

}  // namespace softspine::testbeds
