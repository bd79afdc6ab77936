// SPDX-License-Identifier: Apache-2.0
// What one queue pair of a built-in host sends (FlowConfig) and receives (SinkConfig).
//
// A queue pair (QP) is known by a number of 24 bits, of its own at each host. One QP may send, receive, or both. The QP
// numbers of a flow at its two ends are given; nothing is negotiated.
#pragma once

#include <cstdint>
#include <variant>

#include "control/model/reliable_parameters.hpp"
#include "control/model/workload.hpp"
#include "dataplane/congestion/algorithms.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

using IpAddress = std::variant<uint32_t, dataplane::Ipv6Address>;  // IPv4: 10.0.0.1 is 0x0a000001

struct FlowConfig {
  uint32_t id = 0;  // the caller's; comes back in the counters
  IpAddress destination;
  uint32_t source_qp = 0;
  uint32_t destination_qp = 0;
  uint16_t source_port = 0;  // UDP: see rxe_source_port()
  uint8_t dscp = kUsualDscp;
  uint8_t ecn = dataplane::ip::kEct0;
  uint8_t ttl = 64;
  uint32_t flow_label = 0;  // IPv6
  Verb verb = Verb::kWrite;
  bool has_immediates = false;       // sends that are posted: each message carries the low 32 bits of its tag
  uint32_t immediate = 0;            // of its next message
  uint64_t message_bytes = 1 << 20;  // at most 2^31, as reliable connections have it
  uint64_t messages = 1;             // 0: without end
  uint32_t queue_depth = 0;          // not 0: instead of those, what is posted: so many at a time (work_queue.hpp)
  uint32_t mtu = 4096;               // RDMA path MTU: payload of a packet: 256, 512, 1024, 2048 or 4096
  dataplane::Rate rate;              // on the wire, all overhead counted, as a link's; zero: the port's
  dataplane::Instant start;
  dataplane::Duration gap;  // after each message
  uint32_t first_psn = 0;
  uint64_t remote_address = 0;  // RETH
  uint32_t remote_key = 0;
  dataplane::PortNo port;  // the host's, by which it leaves while the bond uses that port
  TransportKind transport = TransportKind::kOpenLoop;
  ReliableParameters reliable;
};

struct SinkConfig {
  uint32_t id = 0;  // the caller's; comes back in the counters
  uint32_t qp = 0;
  uint32_t first_psn = 0;
  // Whom it answers: a reliable connection acknowledges, and either kind sends CNPs if it is told to.
  TransportKind transport = TransportKind::kOpenLoop;
  IpAddress source;
  uint32_t source_qp = 0;  // 0: nobody
  uint8_t ack_dscp = kUsualDscp;
  uint8_t cnp_dscp = 48;
  dataplane::Duration cnp_interval;  // at most one CNP in it; zero: none at all
  dataplane::Duration nic_delay;     // from the arrival of a marked packet until its CNP may leave
  bool echoes_ce = false;            // its acknowledgements say whether the packet that they name came marked
  bool echoes_telemetry = false;     // they bring back that packet's telemetry, if it has any
  uint32_t latency_group = 0;        // whose packet latencies are kept together: its workload
};

inline constexpr uint64_t kMaxMessageBytes = 1ULL << 31;
// Of a queue pair that sends what is posted: NCCL has 8 slots of a connection under way at most.
inline constexpr uint32_t kPostedMessages = 16;
inline constexpr uint32_t kClearBytes = 64;  // of a clear-to-send: a slot of NCCL's
inline constexpr uint32_t kFirstQp = 17;     // 0 and 1 are management's; rxe, too, gives 17 first

}  // namespace softspine::control
