// SPDX-License-Identifier: Apache-2.0
// What is recorded of ranks and of their messages while they run, for step_history.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "control/model/fabric.hpp"
#include "control/traffic/graph.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// Words for OperationKind, in its order.
inline constexpr std::array<std::string_view, 4> kOperationWords{"send", "receive", "compute", "reduce"};

// An operation that is done, or one part of a send that is posted.
struct StepRecord {
  static constexpr uint32_t kBesideFabric = UINT32_MAX;

  dataplane::Instant at;
  uint64_t number = 0;  // of this rank's records
  uint32_t job = 0;
  uint32_t rank = 0;
  OperationKind kind = OperationKind::kCompute;
  bool is_posted = false;
  uint32_t peer = 0;     // send, receive
  uint32_t channel = 0;  // likewise
  uint64_t message = 0;  // likewise: its number on its connection
  uint64_t bytes = 0;
  dataplane::Instant started;
  dataplane::Duration alone;  // a receive: of the time since the last one was done, nothing but receives was under way
  uint32_t flow = kBesideFabric;  // posted: the part's queue pair
  uint32_t packets = 0;           // posted: of the part

  auto order() const { return std::tuple(at, job, rank, number); }
};

// The last packet of a message's part has left a port. Counts are since the one before it of its flow.
struct HopRecord {
  dataplane::Instant at;  // the last bit
  uint32_t flow = 0;
  uint32_t psn = 0;
  LinkEnd port;
  uint8_t queue = 0;
  uint8_t priorities = 0;  // whose pauses hold that queue: bit n
  uint64_t packets = 0;
  dataplane::Duration stay;    // the longest, of those packets: in the switch, before it began to leave
  dataplane::Duration paused;  // the port, for that priority, meanwhile
  // At the host that sends.
  uint64_t retransmitted_packets = 0;
  uint64_t naks = 0;
  uint64_t timeouts = 0;
  uint64_t cnps = 0;

  auto order() const { return std::tuple(at, port, flow, psn); }
};

}  // namespace softspine::control
