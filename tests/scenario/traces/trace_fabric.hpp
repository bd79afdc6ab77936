// SPDX-License-Identifier: Apache-2.0
// Ranks with recorded work in virtual time: a host each, all on one node of the test that passes each frame to the host
// that it is for, at once, in the order of arrival. What happens at each rank is written down.
// When it goes, every packet must be back in its pool.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dataplane/engine/engine.hpp"
#include "testbeds/hosts/trace_program.hpp"

namespace softspine::testbeds {

struct TracedOperation {
  control::OperationKind kind = control::OperationKind::kCompute;
  uint32_t peer = 0;
  uint32_t tag = 0;
  uint32_t cpu = 0;
  uint64_t bytes = 0;
  dataplane::Duration time;
  std::vector<uint64_t> needs;
  std::vector<uint64_t> needs_started;
};
using TracedRank = std::vector<TracedOperation>;

struct Arrival {
  uint32_t source;
  uint32_t tag;
  uint64_t bytes;
  dataplane::Instant at;
  friend bool operator==(const Arrival&, const Arrival&) = default;
};
struct DoneTraced {
  uint64_t number;
  uint32_t source;  // or receiver
  uint32_t tag;
  dataplane::Instant started;
  dataplane::Instant done;
  friend bool operator==(const DoneTraced&, const DoneTraced&) = default;
};

class TraceLog final : public TraceObserver {
 public:
  void arrived(const MessageMatcher::Message& message, dataplane::Instant now) noexcept override {
    arrivals.push_back({message.source, message.tag, message.bytes, now});
  }
  void done(uint64_t number, uint32_t source, uint32_t tag, dataplane::Instant started,
            dataplane::Instant now) noexcept override {
    list.push_back({number, source, tag, started, now});
  }
  std::vector<Arrival> arrivals;
  std::vector<DoneTraced> list;
};

class TraceFabric {
 public:
  TraceFabric(std::vector<TracedRank> ranks, uint32_t window, const TraceCosts& costs, uint32_t depth = 1'024);
  ~TraceFabric();
  TraceFabric(const TraceFabric&) = delete;
  TraceFabric& operator=(const TraceFabric&) = delete;

  void run() { engine_.run(dataplane::Instant::never()); }
  const TraceProgram& program(uint32_t rank) const { return *programs_[rank]; }
  const TraceLog& log(uint32_t rank) const { return *logs_[rank]; }

 private:
  class Stream;

  const std::vector<TracedRank> ranks_;
  dataplane::PacketPool pool_;
  dataplane::VirtualClock clock_;
  dataplane::Engine engine_;
  std::vector<RoceHost*> hosts_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::unique_ptr<TraceLog>> logs_;
  std::vector<std::unique_ptr<TraceProgram>> programs_;
};

}  // namespace softspine::testbeds
