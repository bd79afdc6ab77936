// SPDX-License-Identifier: Apache-2.0
// The flows of a run: the plan of each (control/traffic/plan.hpp), and its queue pairs at the hosts that are here.
#pragma once

#include <optional>
#include <vector>

#include "control/traffic/plan.hpp"
#include "testbeds/hosts/roce_host.hpp"
#include "testbeds/run/ideal_time.hpp"

namespace softspine::testbeds {

using control::PlannedFlow;

// A flow's queue pair at the host that sends.
struct FlowSource {
  const RoceHost* host = nullptr;
  uint32_t number = 0;  // of the flow, at its host
  const FlowSent& sent() const { return host->sent(number); }
  // Null: it is open-loop.
  const ReliableSender* sender() const { return host->sender(number); }
  dataplane::PortNo port() const { return host->port_of(number); }
};

// A flow's queue pair at the host that receives.
struct FlowSink {
  RoceHost* host = nullptr;
  uint32_t number = 0;  // of the sink, at its host
  const FlowReceived& received() const { return host->received(number); }
  uint32_t expected_psn() const { return host->sinks().expected_psn(number); }
  ArrivalGap take_gap() const { return host->sinks().take_gap(number); }
};

class RunFlows {
 public:
  // Called in the order of the plan. Empty: that host is not here. `ideal`: ideal_time.hpp.
  void add(const PlannedFlow& plan, std::optional<FlowSource> source, std::optional<FlowSink> sink,
           const IdealTime& ideal = {}) {
    plans_.push_back(plan);
    ideals_.push_back(ideal);
    sources_.push_back(source);
    sinks_.push_back(sink);
  }

  size_t size() const { return plans_.size(); }
  const std::vector<PlannedFlow>& plans() const { return plans_; }
  const PlannedFlow& plan(size_t flow) const { return plans_[flow]; }
  const IdealTime& ideal(size_t flow) const { return ideals_[flow]; }
  const std::optional<FlowSource>& source(size_t flow) const { return sources_[flow]; }
  const std::optional<FlowSink>& sink(size_t flow) const { return sinks_[flow]; }

 private:
  std::vector<PlannedFlow> plans_;
  std::vector<IdealTime> ideals_;
  std::vector<std::optional<FlowSource>> sources_;
  std::vector<std::optional<FlowSink>> sinks_;
};

}  // namespace softspine::testbeds
