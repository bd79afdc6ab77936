// SPDX-License-Identifier: Apache-2.0
// A testbed: everything a file describes, expanded and validated. The other rooms work from this alone:
// names are resolved to indices, defaults are filled in, nothing can be missing or contradict itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/document/error.hpp"
#include "control/model/expectation.hpp"
#include "control/model/profile.hpp"
#include "control/model/fabric.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

enum class ClockKind : uint8_t { kVirtual, kWall };

inline constexpr uint32_t kMaxWorkers = 128;  // threads that DPDK, as Debian builds it, gives a packet cache
inline constexpr uint32_t kMaxDilation = 1'000'000;

struct RunConfig {
  ClockKind clock = ClockKind::kVirtual;  // wall if the file says nothing and has outside hosts
  // Emulated time; max(): until it is stopped, or the outside hosts' commands have ended.
  dataplane::Duration duration = dataplane::Duration::ms(10);
  uint64_t seed = 1;
  uint32_t workers = 1;
  uint32_t dilation = 1;      // wall clock: emulated time = wall time / dilation
  uint64_t memory_bytes = 0;  // of packets at most; 0: what the machine has

  bool is_limited() const { return duration != dataplane::Duration::max(); }
};

enum class Pattern : uint8_t { kPermutation, kIncast, kPairs, kAllToAll, kRing };

// RoCEv2's where nothing is configured: AF31.
inline constexpr uint8_t kUsualDscp = 26;

enum class TransportKind : uint8_t { kOpenLoop, kReliable };
enum class Verb : uint8_t { kWrite, kSend };

// How queue pairs deal with what comes back. All but the first two: of reliable connections.
struct TransportConfig {
  TransportKind kind = TransportKind::kOpenLoop;
  Verb verb = Verb::kWrite;
  CongestionControl congestion_control = CongestionControl::kOff;
  uint32_t window = 1024;         // packets under way
  uint32_t ack_every = 16;        // packets
  uint8_t ack_timeout = 14;       // 4.096 µs × 2^n; 0: none
  uint8_t retries = 7;            // timeouts without progress
  uint8_t ack_dscp = kUsualDscp;  // the workload's own unless the file says otherwise
  uint8_t cnp_dscp = 48;
  dataplane::Duration cnp_interval = dataplane::Duration::us(50);
};

// How a flow's messages go over its queue pairs: each has all of them; each has a part of every one; they take turns.
enum class Scaling : uint8_t { kEach, kSplit, kRoundRobin };

// RoCEv2 traffic between built-in hosts.
struct Workload {
  std::string name;
  Pattern pattern = Pattern::kPermutation;
  // Nodes of the fabric. permutation, all_to_all, ring: among `hosts`, in this order. pairs: from[i] → to[i]. incast:
  // each of `from` → to[0].
  std::vector<uint32_t> hosts;
  std::vector<uint32_t> from;
  std::vector<uint32_t> to;
  uint64_t message_bytes = 1 << 20;
  uint64_t messages = 1;  // per queue pair; split, round_robin: of the flow
  uint32_t mtu = 4096;    // RDMA path MTU: payload bytes of a packet
  uint32_t qps = 1;       // queue pairs per flow
  Scaling scaling = Scaling::kEach;
  uint32_t first_qp = 0;     // 0: the host chooses
  uint16_t source_port = 0;  // UDP; 0: from the queue pair, as the kernel does it
  dataplane::Rate rate;      // per flow, over its queue pairs; zero: the host's link
  dataplane::Instant start;
  // kUsualDscp, or what the file says; if it says nothing, one that is lossless on all ways (compile/service.hpp).
  uint8_t dscp = kUsualDscp;
  bool dscp_given = false;
  bool ack_dscp_given = false;
  TransportConfig transport;
  Place place;       // of the workload
  Place dscp_place;  // of its key, or of the workload
};

// A switch that has the maps, buffers and queues of another profile from some instant on.
struct ProfileChange {
  uint32_t node = 0;
  uint32_t profile = 0;  // of Testbed::profiles
};

// One change at one instant: of links (a node's fault changes all of its links), or of a switch's profile.
struct Fault {
  dataplane::Instant at;
  std::vector<uint32_t> links;  // of the fabric, ascending
  bool up = false;
  std::optional<ProfileChange> profile;
};

enum class HostFaultKind : uint8_t { kStorm, kSlowReceiver, kWell };

// A built-in host that fails, at all of its ports, from an instant until another one. kWell: it does no longer.
struct HostFault {
  dataplane::Instant at;
  dataplane::Instant until = dataplane::Instant::never();
  uint32_t node = 0;
  HostFaultKind kind = HostFaultKind::kStorm;
  uint8_t priorities = 0x18;  // bit n: priority n
  dataplane::Rate drain;      // slow receiver; zero: not at all
};

enum class PortFaultKind : uint8_t { kLossy, kDeaf, kWell };
// Of a lossy link, as the named end sees it.
enum class LossyWay : uint8_t { kBoth, kOut, kIn };

// Cables that lose frames, and ports that do not react to PFC, from an instant until another one. What is wrong with
// a port is replaced by the next fault of its kind; kWell ends it, whatever it is.
struct PortFault {
  dataplane::Instant at;
  dataplane::Instant until = dataplane::Instant::never();
  PortFaultKind kind = PortFaultKind::kLossy;
  std::vector<LinkEnd> ports;  // whose frames are lost; that are deaf
  uint64_t lost_millionths = 0;
  uint64_t damaged_millionths = 0;
  uint8_t priorities = 0xff;  // deaf: bit n: priority n
};

struct Testbed {
  std::string name;
  std::string file;  // where it was read from; relative paths in it start at its folder
  RunConfig run;
  std::vector<Profile> profiles;  // at least one
  Fabric fabric;
  std::vector<Workload> workloads;
  std::vector<Fault> faults;           // by instant, then as written
  std::vector<HostFault> host_faults;  // likewise
  std::vector<PortFault> port_faults;  // likewise
  dataplane::Duration convergence;     // how long routes take to follow a link event
  std::vector<Expectation> expectations;
  Errors warnings;  // what the file says without effect, in its order
};

}  // namespace softspine::control
