// SPDX-License-Identifier: Apache-2.0
// The flows of a run: the plan of each (control/traffic/plan.hpp), and its queue pairs. Those of hosts elsewhere are as
// share() has brought them from their ranks (ranks.hpp); without ranks, they are not there.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "control/traffic/plan.hpp"
#include "testbeds/hosts/roce_host.hpp"
#include "testbeds/run/ideal_time.hpp"
#include "testbeds/run/ranks.hpp"

namespace softspine::testbeds {

using control::PlannedFlow;

// What control asks of a sender beside its counters.
struct SenderState {
  bool is_open_loop = false;
  bool has_failed = false;
  bool waits_for_ever = false;  // for an acknowledgement, and no timer runs
  uint32_t timeouts_in_a_row = 0;
  dataplane::PortNo port;
  bool leaves_port = false;  // its bond has not looked yet

  static SenderState of(const RoceHost& host, uint32_t number);
};

// Queue pairs at a host of another rank, as they were at the last share().
struct SourceElsewhere {
  FlowSent sent;
  SenderState state;
};
struct SinkElsewhere {
  FlowReceived received;
  uint32_t expected_psn = 0;
  ArrivalGap gap;  // not taken yet; also of a sink here, so that all ranks take the same
};

// A flow's queue pair at the host that sends.
struct FlowSource {
  const RoceHost* host = nullptr;  // null: elsewhere
  uint32_t number = 0;             // of the flow, at its host
  const SourceElsewhere* elsewhere = nullptr;

  const FlowSent& sent() const { return host == nullptr ? elsewhere->sent : host->sent(number); }
  SenderState state() const { return host == nullptr ? elsewhere->state : SenderState::of(*host, number); }
  bool is_open_loop() const { return state().is_open_loop; }
  dataplane::PortNo port() const { return state().port; }
};

// A flow's queue pair at the host that receives.
struct FlowSink {
  RoceHost* host = nullptr;  // null: elsewhere
  uint32_t number = 0;       // of the sink, at its host
  SinkElsewhere* shared = nullptr;

  const FlowReceived& received() const { return host == nullptr ? shared->received : host->received(number); }
  uint32_t expected_psn() const { return host == nullptr ? shared->expected_psn : host->sinks().expected_psn(number); }
  ArrivalGap take_gap() const {
    return shared == nullptr ? host->sinks().take_gap(number) : std::exchange(shared->gap, {});
  }
};

class RunFlows {
 public:
  RunFlows() = default;
  // Over ranks: they outlive this.
  explicit RunFlows(const Ranks& ranks) : ranks_(&ranks) {}

  // Called in the order of the plan. Empty: that host is not here. `ideal`: ideal_time.hpp.
  void add(const PlannedFlow& plan, std::optional<FlowSource> source, std::optional<FlowSink> sink,
           const IdealTime& ideal = {}) {
    plans_.push_back(plan);
    ideals_.push_back(ideal);
    sources_.push_back(source);
    sinks_.push_back(sink);
  }
  // After the last add(): queue pairs of hosts elsewhere are there, too.
  void add_elsewhere();

  // Brings what is elsewhere up to date, and takes the gaps of the sinks here if asked for. By all ranks at once; with
  // one rank it does nothing.
  void share(bool gaps = false) const;
  // By flow: the port by which its host's bond sends now; 0 if its host is outside. By all ranks at once; rank 0's
  // are whole.
  std::vector<uint16_t> host_ports() const;

  size_t size() const { return plans_.size(); }
  const std::vector<PlannedFlow>& plans() const { return plans_; }
  const PlannedFlow& plan(size_t flow) const { return plans_[flow]; }
  const IdealTime& ideal(size_t flow) const { return ideals_[flow]; }
  const std::optional<FlowSource>& source(size_t flow) const { return sources_[flow]; }
  const std::optional<FlowSink>& sink(size_t flow) const { return sinks_[flow]; }

 private:
  bool is_alone() const { return ranks_ == nullptr || ranks_->is_alone(); }

  const Ranks* ranks_ = nullptr;
  std::vector<PlannedFlow> plans_;
  std::vector<IdealTime> ideals_;
  std::vector<std::optional<FlowSource>> sources_;
  std::vector<std::optional<FlowSink>> sinks_;
  // By flow; those here have a place, too. What they hold is no part of the flows' list.
  std::shared_ptr<std::vector<SourceElsewhere>> sources_elsewhere_;
  std::shared_ptr<std::vector<SinkElsewhere>> sinks_shared_;
};

}  // namespace softspine::testbeds
