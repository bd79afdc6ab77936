// SPDX-License-Identifier: Apache-2.0
// What the ranks of collectives and trainings do and wait for, recorded while they run (control/steps). Nobody records
// unless the user asks: else there is no tap, and a rank's program has one comparison with null for each operation.
// Two may ask: the history, which finds why ranks waited, and needs taps at all ports; and sinks (control/steps), which
// take the operations as they end.
//
//   recorder_of   of one rank: writes into the buffer of its worker
//   looks         at the multiples of an interval of emulated time, everything that happened before is taken, in one
//                 order (instant; job, rank; port, flow), so what is found is the same for any number of workers. None
//                 is taken while no event lies before it
//   over ranks    each records what its nodes do; at a look rank 0 gets that of all, and has the history
#pragma once

#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/steps/step_history.hpp"
#include "control/steps/step_sink.hpp"
#include "testbeds/hosts/rank_program.hpp"
#include "testbeds/run/captures.hpp"
#include "testbeds/run/message_taps.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

struct StepsAsked {
  bool explained = false;  // for the history
  bool traced = false;     // for sinks
};

class RankRecorder {
 public:
  // By sender, receiver, channel: the first queue pair's flow.
  using FirstFlows = std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t>;

  // `config`: of the rank's program. `taps`: of its host's ports; without any, nobody asks for what is posted. All but
  // `config` outlive it.
  RankRecorder(uint32_t job, uint32_t rank, const RankConfig& config, const FirstFlows& flows, uint32_t mtu,
               std::span<const std::unique_ptr<MessageTap>> taps, StepBuffer& buffer);

  void posted(const OpenOperation& operation) noexcept;
  // `alone`: for how long the rank has had nothing but receives under way so far.
  void done(const OpenOperation& operation, dataplane::Instant now, dataplane::Duration alone) noexcept;

 private:
  struct Connection {
    uint32_t peer = 0;
    uint32_t channel = 0;
    uint32_t first_flow = control::StepRecord::kBesideFabric;
  };
  void post(uint32_t flow, uint32_t packets, dataplane::Instant now) noexcept;
  control::StepRecord record_of(const OpenOperation& operation, dataplane::Instant at) noexcept;

  uint32_t job_;
  uint32_t rank_;
  bool splits_;
  uint32_t mtu_;
  std::vector<Connection> connections_;
  std::span<const std::unique_ptr<MessageTap>> taps_;
  StepBuffer& buffer_;
  uint64_t records_ = 0;
  dataplane::Duration alone_;  // by the last receive
};

// What one rank has recorded since the look before.
struct StepsHere {
  struct Look {
    control::LinkEnd port;
    control::PortLook is;
  };
  std::vector<Look> looks;
  std::vector<control::StepRecord> steps;
  std::vector<control::HopRecord> hops;
};

class StepLog : public RunPart {
 public:
  // All must outlive it.
  StepLog(const control::Testbed& testbed, const LocalNodes& nodes, const RunFlows& flows, Captures& captures,
          StepsAsked asked)
      : testbed_(testbed), nodes_(nodes), flows_(flows), captures_(captures), asked_(asked) {}
  ~StepLog() override;

  void start() override;
  void finish(dataplane::Instant now) override;
  void snapshot(control::FabricSnapshot& out) override;

  // Whether a sink would have anything to take: there are ranks, and it was made for sinks.
  bool has_ranks() const { return asked_.traced && !jobs().empty(); }
  bool finds_reasons() const { return asked_.explained; }
  // Called before the first window, at rank 0, if has_ranks().
  void open(std::unique_ptr<control::StepSink> sink);

  // When ranks are made, after start(): null if nothing is recorded. The host is here. `job`: collectives, then
  // trainings, in the testbed's order.
  std::unique_ptr<RankRecorder> recorder_of(size_t job, uint32_t rank, const RankConfig& config);

 private:
  const control::RankTraffic& traffic_of(size_t job) const;
  std::vector<control::StepJob> jobs() const;
  std::vector<bool> watched_flows();
  void set_taps();
  void look(dataplane::Instant now);
  StepsHere take_here(dataplane::Instant known);
  void take_before(dataplane::Instant now);
  void add_looks(dataplane::Instant known, std::span<const StepsHere> all);
  void hand_over(const control::StepRecord& step);
  void hand_over(const control::FoundWait& wait);
  // Without ranks there is nothing for sinks.
  bool is_on() const { return asked_.explained || has_ranks(); }
  size_t worker_of(uint32_t node) const;

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  const RunFlows& flows_;
  Captures& captures_;
  StepsAsked asked_;
  std::vector<std::unique_ptr<StepBuffer>> buffers_;   // by worker
  std::vector<bool> watched_;                          // by flow
  std::vector<RankRecorder::FirstFlows> first_flows_;  // by job
  std::vector<std::unique_ptr<MessageTap>> taps_;      // in the order of nodes
  std::vector<control::StepRecord> steps_;             // not taken yet
  std::vector<control::HopRecord> hops_;               // likewise
  std::unique_ptr<control::StepHistory> history_;      // at rank 0; null: nobody asks for reasons
  std::vector<std::unique_ptr<control::StepSink>> sinks_;
};

}  // namespace softspine::testbeds
