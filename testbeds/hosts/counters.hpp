// SPDX-License-Identifier: Apache-2.0
// What a host has seen: plain integers, read between windows.
//
// Beside what control/telemetry/host_counts.hpp and reliable_counts.hpp say:
//   delivered = Σ over its sinks of FlowReceived::packets
//   sent (on the links) = Σ over its flows of FlowSent::packets + answers_sent + pauses_sent + credit frames
// PFC frames received are consumed: dropped[kPfcConsumed]. By priority they are in PortFlowControl.
#pragma once

#include <algorithm>
#include <cstdint>

#include "control/telemetry/host_counts.hpp"
#include "control/telemetry/reliable_counts.hpp"
#include "dataplane/units/histogram.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::testbeds {

// A flow at its source. Bytes are payload. A packet touches what comes before `messages` (host_flows.hpp).
struct FlowSent {
  uint32_t id = 0;
  uint32_t qp = 0;
  uint64_t packets = 0;
  uint64_t bytes = 0;
  dataplane::Instant first_sent = dataplane::Instant::never();  // first bit
  dataplane::Instant last_left;                                 // last bit

  uint64_t messages = 0;   // whose last packet has left
  uint64_t responses = 0;  // acknowledgements and CNPs that came back
  control::RequesterCounts reliable;
  dataplane::Instant last_completed;
};

// A flow at its destination. Bytes are payload; only packets with a good ICRC are known to be a flow's. What comes
// before `gaps` is what every packet or message touches (receive_queue.hpp).
struct FlowReceived {
  uint32_t id = 0;
  uint32_t qp = 0;
  uint64_t packets = 0;                                         // in order, ahead or behind
  uint64_t bytes = 0;                                           // of those in order or ahead: no byte twice
  dataplane::Instant last_arrived;                              // last bit of the last packet
  dataplane::Instant first_born = dataplane::Instant::never();  // of the packets received: first bit left its source
  int64_t latency_min_ps = 0;
  int64_t latency_max_ps = 0;
  double latency_sum_ps = 0;
  uint64_t marked = 0;                                             // arrived with CE
  uint64_t messages = 0;                                           // whole: every packet of it, in order
  dataplane::Instant last_message;                                 // last bit of the last whole message
  dataplane::Instant first_arrived = dataplane::Instant::never();  // last bit of the first packet

  uint64_t gaps = 0;  // times a PSN was ahead of the expected one
  uint64_t skipped =
      0;                // PSNs in those gaps: lost, or late; what is lost behind the last one received is not seen here
  uint64_t behind = 0;  // PSN before the expected one: late (then also in `skipped`) or twice
  uint64_t foreign = 0;  // of `packets`: not sent by its source, but injected or from outside
  // Of a reliable connection. There, gaps are the negative acknowledgements sent, and nothing is skipped or behind.
  control::ResponderCounts reliable;

  double latency_mean_ps() const { return packets == 0 ? 0 : latency_sum_ps / static_cast<double>(packets); }
  // Payload per second from the first bit sent to the last bit received; 0 before there is any.
  double goodput_bps() const {
    return packets == 0 ? 0 : static_cast<double>(bytes) * 8 / (last_arrived - first_born).seconds();
  }
};

// The longest time between two packets of a flow, of those that ended since control has last taken it. Zero: none.
struct ArrivalGap {
  dataplane::Duration length;
  dataplane::Instant to;  // last bit of the later one
};

// Of every packet delivered to the sinks of one group: last bit arrived − first bit left.
struct LatencyGroup {
  uint32_t group = 0;  // SinkConfig::latency_group
  dataplane::Histogram latency_ps;
};

struct HostCounters : control::HostCounts {
  dataplane::Histogram message_latency_ps;  // of every whole message: last bit of its last − first bit of its first
  dataplane::Histogram completion_ps;       // of its reliable senders' messages: last ACK in − first bit out

  uint64_t dropped_packets() const {
    uint64_t sum = 0;
    for (const uint64_t n : dropped) sum += n;
    return sum;
  }
};

// From the first bit sent to the last bit of the last message received, which must be there.
inline dataplane::Duration flow_completion(const FlowSent& sent, const FlowReceived& received) {
  return received.last_message - sent.first_sent;
}

}  // namespace softspine::testbeds
