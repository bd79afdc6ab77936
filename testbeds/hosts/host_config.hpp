// SPDX-License-Identifier: Apache-2.0
// The configuration of a built-in host, and of what its queue pairs send (FlowConfig) and receive (SinkConfig).
//
// A queue pair (QP) is known by a number of 24 bits, of its own at each host. One QP may send, receive, or both. The QP
// numbers of a flow at its two ends are given; nothing is negotiated.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "control/model/bond.hpp"
#include "control/model/workload.hpp"
#include "control/traffic/rxe_source_port.hpp"
#include "dataplane/congestion/congestion_parameters.hpp"
#include "dataplane/flow_control/link_mode.hpp"
#include "dataplane/forwarding/azure_maps.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "testbeds/hosts/host_tag.hpp"

namespace softspine::testbeds {

using Ipv4Address = uint32_t;  // 10.0.0.1 is 0x0a000001
using IpAddress = std::variant<Ipv4Address, dataplane::Ipv6Address>;

using PriorityMap = std::array<uint8_t, 64>;  // by DSCP

// The link of one of the host's ports. If it goes by credit (credit_link.hpp), the host keeps kHostRoomBytes for each
// of the priorities, or what its receive buffer has.
struct HostLink {
  dataplane::LinkMode mode = dataplane::LinkMode::kPfc;
  std::optional<dataplane::Duration> pause_response;  // none: the longest that 802.3 allows at the link's rate
  uint8_t credit_priorities = 0;
  uint32_t largest_frame = 0;
};
inline constexpr uint32_t kHostCellBytes = 256;
inline constexpr uint32_t kHostRoomBytes = 128 << 10;

struct HostConfig {
  std::string name;
  dataplane::MacAddress mac{};
  Ipv4Address ipv4 = 0;             // 0: none
  dataplane::Ipv6Address ipv6{};    // all zero: none
  dataplane::MacAddress gateway{};  // every packet's next hop: a static neighbour (or the only other host)
  uint32_t mtu = 9216;              // bytes of an IP packet
  uint16_t ports = 1;
  // A packet's priority, which a pause stops or credit holds back, by its DSCP. What is not IP has the priority of DSCP
  // 0.
  PriorityMap priority_of_dscp = dataplane::kAzureDscpToTc;
  HostTag tag;
  bool obeys_pause = true;
  std::array<HostLink, 2> links;         // by port
  control::Bond bond;                    // of two ports
  dataplane::Duration pfc_watchdog;      // nic_watchdog.hpp; zero: none
  uint32_t start_jitter_millionths = 0;  // start_jitter.hpp
};

using control::TransportKind;  // open loop: it paces (open_loop.hpp); reliable: go-back-N (reliable_sender.hpp)
using control::Verb;

// A reliable connection's own. Packets and PSNs are one to one.
struct ReliableConfig {
  uint32_t window = 1024;    // packets under way at most: 4 MiB at a path MTU of 4096
  uint32_t ack_every = 16;   // an acknowledgement is asked for at least so often, and at the end of a message
  uint8_t ack_timeout = 14;  // 4.096 µs × 2^n without progress: 67 ms; 0: for ever
  uint8_t retries = 7;       // timeouts in a row without progress, after which the next one is the end
  // The first timeout; each in a row is twice the one before it, up to ack_timeout's, and the end comes when `retries`
  // of that have passed. Zero: all are ack_timeout's.
  dataplane::Duration adaptive_retransmission;
  dataplane::CongestionParameters congestion_control;  // none: as fast as the window lets
};

struct FlowConfig {
  uint32_t id = 0;  // the caller's; comes back in the counters
  IpAddress destination;
  uint32_t source_qp = 0;
  uint32_t destination_qp = 0;
  uint16_t source_port = 0;  // UDP: see rxe_source_port()
  uint8_t dscp = 26;
  uint8_t ecn = dataplane::ip::kEct0;
  uint8_t ttl = 64;
  uint32_t flow_label = 0;  // IPv6
  Verb verb = Verb::kWrite;
  uint64_t message_bytes = 1 << 20;  // at most 2^31, as reliable connections have it
  uint64_t messages = 1;             // 0: without end
  uint32_t mtu = 4096;               // RDMA path MTU: payload of a packet: 256, 512, 1024, 2048 or 4096
  dataplane::Rate rate;              // on the wire, all overhead counted, as a link's; zero: the port's
  dataplane::Instant start;
  dataplane::Duration gap;  // after each message
  uint32_t first_psn = 0;
  uint64_t remote_address = 0;  // RETH
  uint32_t remote_key = 0;
  dataplane::PortNo port;  // the host's, by which it leaves while the bond uses that port
  TransportKind transport = TransportKind::kOpenLoop;
  ReliableConfig reliable;
};

struct SinkConfig {
  uint32_t id = 0;  // the caller's; comes back in the counters
  uint32_t qp = 0;
  uint32_t first_psn = 0;
  // Whom it answers: a reliable connection acknowledges, and either kind sends CNPs if it is told to.
  TransportKind transport = TransportKind::kOpenLoop;
  IpAddress source;
  uint32_t source_qp = 0;  // 0: nobody
  uint8_t ack_dscp = 26;
  uint8_t cnp_dscp = 48;
  dataplane::Duration cnp_interval;  // at most one CNP in it; zero: none at all
  dataplane::Duration nic_delay;     // from the arrival of a marked packet until its CNP may leave
  uint32_t latency_group = 0;        // whose packet latencies are kept together: its workload
};

inline constexpr uint64_t kMaxMessageBytes = 1ULL << 31;
inline constexpr uint32_t kFirstQp = 17;  // 0 and 1 are management's; rxe, too, gives 17 first

using control::rxe_source_port;

// Everything that contradicts itself, as sentences; empty when the host could run it.
std::vector<std::string> validate(const HostConfig& host);
std::vector<std::string> validate(const HostConfig& host, const FlowConfig& flow);
std::vector<std::string> validate(const HostConfig& host, const SinkConfig& sink);

}  // namespace softspine::testbeds
