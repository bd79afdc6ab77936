// SPDX-License-Identifier: Apache-2.0
// RoCEv2 traffic between built-in hosts, as a testbed asks for it and as the hosts are given it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/document/error.hpp"
#include "control/model/attachment.hpp"
#include "control/model/reliable_parameters.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

enum class Pattern : uint8_t { kPermutation, kIncast, kPairs, kAllToAll, kRing, kList, kPoisson };

// The DSCP of RoCEv2 where nothing is configured: AF31.
inline constexpr uint8_t kUsualDscp = 26;

// IPv6 40, UDP 8, BTH 12, RETH 16, ICRC 4: what a packet of an RDMA write is longer than its payload.
inline constexpr uint32_t kWriteHeaderBytes = 80;

enum class TransportKind : uint8_t { kOpenLoop, kReliable };
enum class Verb : uint8_t { kWrite, kSend };

// The transport of a workload's queue pairs. All members but the first two apply to reliable connections only.
struct TransportConfig {
  TransportKind kind = TransportKind::kOpenLoop;
  Verb verb = Verb::kWrite;
  ReliableParameters reliable;
  uint8_t ack_dscp = kUsualDscp;  // the workload's own unless the file says otherwise
  uint8_t cnp_dscp = 48;
  dataplane::Duration cnp_interval = dataplane::Duration::us(50);
};

// How a flow's messages are spread over its queue pairs: each queue pair sends all messages; each sends a part of every
// message; messages alternate between queue pairs; of posted ones, each goes by the queue pair with the fewest bytes
// that are not complete.
enum class Scaling : uint8_t { kEach, kSplit, kRoundRobin, kLeastOutstanding };

// The UDP source ports of a flow's queue pairs: as the kernel derives them from the queue pairs' numbers, or such that
// the fabric's hashes send them by paths without a link between switches in common.
enum class PortChoice : uint8_t { kPerQp, kDisjoint };

// How a host numbers its queue pairs: as which driver (control/traffic/qp_numbers.hpp).
enum class QpNumbering : uint8_t { kRxe, kMlx5, kHns, kIonic, kRandom };
inline constexpr size_t kQpNumberings = 5;

// A flow of a list, which has a size and a start of its own: one message.
struct ListedFlow {
  uint64_t bytes = 0;
  dataplane::Instant start;
  std::optional<uint8_t> dscp;  // else the workload's
};

// RoCEv2 traffic between built-in hosts.
struct Workload {
  std::string name;
  Pattern pattern = Pattern::kPermutation;
  // Nodes of the fabric. permutation, all_to_all, ring: among `hosts`, in this order. pairs, list, poisson: from[i] →
  // to[i]. incast: each of `from` → to[0].
  std::vector<uint32_t> hosts;
  std::vector<uint32_t> from;
  std::vector<uint32_t> to;
  // Not empty: its flows send what ranks post (control/model/collective.hpp), so many messages by pair. Then
  // message_bytes is the least of theirs, and messages 0.
  std::vector<uint64_t> posted;
  // list, poisson: what from[i] sends to to[i], in the order of their starts or of the list. Then message_bytes is the
  // least of theirs, and `start` that of the whole.
  std::vector<ListedFlow> flows;
  bool has_immediates = false;  // posted messages are SENDs with immediate data: who posts says which
  bool cross_rack = false;      // permutation: nobody sends within a rack (no key says so; benches do)
  uint64_t message_bytes = 1 << 20;
  uint64_t messages = 1;  // per queue pair; split, round_robin: of the flow
  uint32_t mtu = 4096;    // RDMA path MTU: payload bytes of a packet
  uint32_t qps = 1;       // queue pairs per flow
  Scaling scaling = Scaling::kEach;
  QpNumbering qp_numbers = QpNumbering::kRxe;
  uint32_t first_qp = 0;     // rxe only; 0: the host chooses
  uint16_t source_port = 0;  // UDP; 0: from the queue pair, as the kernel does it
  PortChoice ports = PortChoice::kPerQp;
  dataplane::Rate rate;  // per flow, over its queue pairs; zero: the host's link
  dataplane::Instant start;
  // kUsualDscp, or what the file says; if it says nothing, one that is lossless on all ways (compile/service.hpp).
  uint8_t dscp = kUsualDscp;
  bool dscp_given = false;
  bool ack_dscp_given = false;
  TransportConfig transport;
  Place place;       // of the workload
  Place dscp_place;  // of its key, or of the workload
};

}  // namespace softspine::control
