// SPDX-License-Identifier: Apache-2.0
// Ranks in virtual time: a host each, all on one node of the test that passes each frame to the host that it is for,
// at once, in the order of arrival. So two ranks meet on the way to a third one, and nowhere else.
// Each has a list of operations, those of each line one behind the other; connections between any two of them on every
// channel.
// When it goes, every packet must be back in its pool.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "control/traffic/graph.hpp"
#include "dataplane/engine/engine.hpp"
#include "testbeds/hosts/rank_program.hpp"

namespace softspine::testbeds {

struct ScriptedOperation {
  control::OperationKind kind = control::OperationKind::kCompute;
  uint32_t peer = 0;
  uint32_t channel = 0;
  uint64_t bytes = 0;
  dataplane::Duration time;
  std::vector<uint64_t> needs;
  bool after_all = false;
  uint32_t line = 0;
};
using Script = std::vector<ScriptedOperation>;

inline ScriptedOperation send(uint32_t peer, uint64_t bytes, std::vector<uint64_t> needs = {}, uint32_t channel = 0) {
  return {.kind = control::OperationKind::kSend, .peer = peer, .channel = channel, .bytes = bytes, .needs = needs};
}
inline ScriptedOperation receive(uint32_t peer, uint64_t bytes, std::vector<uint64_t> needs = {},
                                 uint32_t channel = 0) {
  return {.kind = control::OperationKind::kReceive, .peer = peer, .channel = channel, .bytes = bytes, .needs = needs};
}
inline ScriptedOperation compute(dataplane::Duration time, std::vector<uint64_t> needs = {}) {
  return {.kind = control::OperationKind::kCompute, .time = time, .needs = needs};
}
inline ScriptedOperation reduce(uint64_t bytes, std::vector<uint64_t> needs = {}) {
  return {.kind = control::OperationKind::kReduce, .bytes = bytes, .needs = needs};
}

class ScriptLines final : public control::WorkLines {
 public:
  explicit ScriptLines(const Script& script);
  uint32_t lines() const noexcept override { return static_cast<uint32_t>(lines_.size()); }
  Answer next(uint32_t line, control::Operation& out) noexcept override;

 private:
  struct Line {
    std::vector<const ScriptedOperation*> operations;
    size_t given = 0;
  };
  bool is_given(uint64_t number) const { return control::index_of(number) < lines_[control::line_of(number)].given; }

  std::vector<Line> lines_;
};

struct DoneOperation {
  uint64_t number;
  dataplane::Instant started;
  dataplane::Instant done;
  friend bool operator==(const DoneOperation&, const DoneOperation&) = default;
};

class DoneList final : public OperationObserver {
 public:
  void done(const OpenOperation& operation, dataplane::Instant now) noexcept override {
    list_.push_back({operation.number, operation.started, now});
  }
  const std::vector<DoneOperation>& list() const { return list_; }
  // It is done.
  const DoneOperation& of(uint64_t number) const;

 private:
  std::vector<DoneOperation> list_;
};

struct RankSetup {
  dataplane::Rate rate = dataplane::Rate::gbps(100);
  dataplane::Duration propagation = dataplane::Duration::ns(500);  // of each cable: one at each host
  uint32_t workers = 1;
  control::TransportKind transport = control::TransportKind::kOpenLoop;
  uint32_t mtu = 4096;
  uint32_t channels = 1;
  uint32_t queue_pairs = 1;  // of a connection
  uint32_t depth = 64;
  uint8_t ack_timeout = 8;   // 1 ms
  bool admission = false;    // by the receiver
  dataplane::Rate scale_up;  // not zero: all connections go beside the fabric, by links between each two hosts
  dataplane::Duration scale_up_latency = dataplane::Duration::ns(700);
  uint64_t lost_share = 0;  // of 2^32, of what a host sends
  RankConfig rank;          // without connections
};

class RankFabric {
 public:
  RankFabric(std::vector<Script> scripts, const RankSetup& setup);
  ~RankFabric();
  RankFabric(const RankFabric&) = delete;
  RankFabric& operator=(const RankFabric&) = delete;

  // `end`: of a run that does not end by itself.
  void run(dataplane::Instant end = dataplane::Instant::never()) { engine_.run(end); }
  // All of them have done all that they have to.
  void run_to_the_end();

  dataplane::Engine& engine() { return engine_; }
  RoceHost& host(uint32_t rank) { return *hosts_[rank]; }
  const RankProgram& program(uint32_t rank) const { return *programs_[rank]; }
  const DoneList& done(uint32_t rank) const { return *done_[rank]; }
  // Of the rank that ends last.
  dataplane::Instant end() const;
  // A frame of the flow's, with all that Ethernet puts around it.
  static uint32_t frame_bytes(uint32_t payload, bool is_first);

 private:
  void connect(uint32_t from, uint32_t to, uint32_t channel, const RankSetup& setup);
  void connect_beside(uint32_t from, uint32_t to, uint32_t channel, const RankSetup& setup);
  void join_hosts(const RankSetup& setup);

  const std::vector<Script> scripts_;
  dataplane::PacketPool pool_;
  dataplane::VirtualClock clock_;
  dataplane::Engine engine_;
  std::vector<RoceHost*> hosts_;
  std::vector<std::vector<RankConnection>> connections_;  // by rank
  std::vector<uint32_t> scale_up_sinks_;                  // by rank: how many it has
  std::vector<std::unique_ptr<ScriptLines>> lines_;
  std::vector<std::unique_ptr<DoneList>> done_;
  std::vector<std::unique_ptr<RankProgram>> programs_;
  uint32_t next_qp_ = 100;
};

}  // namespace softspine::testbeds
