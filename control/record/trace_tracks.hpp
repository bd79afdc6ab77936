// SPDX-License-Identifier: Apache-2.0
// The tracks of a run's trace, described when they are first asked for: so a trace has no track without anything on it
// or below it.
//
//   tor1                                 a switch or a host
//     tor1:Ethernet0                     a port: drops, marks and events
//       priority 3 paused                when it stood still; of a link that goes by PAUSE: link paused
//       priority 3 pauses its neighbour  when it asked its neighbour to pause
//       queue 3 bytes                    of switches, as are the next
//       group 3 shared bytes, group 3 headroom bytes
//     tor1:ingress_lossless_pool shared bytes, … headroom bytes
//   control                              what control did and found: faults, stacks, routes, deadlocks
//   ring                                 a collective or a training
//     rank 0 at h1
//       send, receive, compute, reduce   operations that overlap have tracks of one name
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "control/model/fabric.hpp"
#include "control/model/port_numbers.hpp"
#include "control/record/trace_packets.hpp"
#include "control/steps/step_history.hpp"
#include "control/steps/step_record.hpp"

namespace softspine::control {

enum class PortTrack : uint8_t { kPaused, kPauses, kQueue, kGroupShared, kGroupHeadroom };
enum class PoolTrack : uint8_t { kShared, kHeadroom };

// Of a track of operations, and of its slices.
std::string_view word_for(OperationKind kind);

class TraceTracks {
 public:
  // Both outlive it.
  TraceTracks(const Fabric& fabric, TracePackets& packets) : fabric_(fabric), packets_(packets), ports_(fabric) {}

  void set_jobs(std::vector<StepJob> jobs) { jobs_ = std::move(jobs); }
  const PortNumbers& ports() const { return ports_; }

  // Each is its number in the trace.
  uint64_t control();
  uint64_t port(LinkEnd port);
  uint64_t of_port(LinkEnd port, PortTrack what, uint8_t number);
  // `place`: any number of its own.
  uint64_t pool(uint32_t place, const std::string& name, PoolTrack what);
  // `lane`: operations on one lane do not overlap.
  uint64_t operation(uint32_t job, uint32_t rank, OperationKind kind, uint32_t lane);

 private:
  enum class What : uint8_t { kControl, kNode, kPort, kOfPort, kPool, kJob, kRank, kLane };
  struct Found {
    uint64_t uuid;
    bool is_new;
  };
  Found find(What what, uint64_t index, uint64_t number = 0);
  uint64_t node(uint32_t node);
  uint64_t rank(uint32_t job, uint32_t rank);

  const Fabric& fabric_;
  TracePackets& packets_;
  PortNumbers ports_;
  std::vector<StepJob> jobs_;
  std::unordered_map<uint64_t, uint64_t> tracks_;
};

}  // namespace softspine::control
