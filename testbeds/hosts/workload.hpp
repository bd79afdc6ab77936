// SPDX-License-Identifier: Apache-2.0
// From a traffic pattern to the flows that make it up: pure, the same for the same seed.
//
//   permutation  each host sends to one other and receives from one: a random derangement
//   incast       each of `from` → to[0]
//   pairs        from[i] → to[i]
//   all_to_all   each ordered pair of different hosts
//   ring         each host → the next in the list, the last → the first
//   random       `flows` ordered pairs of different hosts, drawn with replacement
//
// `cross_rack` keeps permutation and random between hosts of different racks; a permutation needs no rack to
// hold more than half of the hosts.
// Each flow has `qps` queue pairs, which share its rate. QP numbers are dense per host, from kFirstQp, over
// all workloads of one call, in the order of the flows; source and sink of a QP take one number each.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "testbeds/hosts/host_config.hpp"

namespace softspine::testbeds {

// How a flow's messages go over its QPs: `flow.messages` on each of them; each message cut into a part for each; or
// message i on QP i modulo `qps` (Meta's two ways of QP scaling, SIGCOMM 2024).
enum class Scaling : uint8_t { kEach, kSplit, kRoundRobin };

enum class Pattern : uint8_t { kPermutation, kIncast, kPairs, kAllToAll, kRing, kRandom };

struct Endpoint {
  IpAddress address;
  uint32_t rack = 0;
};

struct Workload {
  Pattern pattern = Pattern::kPermutation;
  // Indices into the endpoints. permutation, all_to_all, ring, random: `hosts`; incast, pairs: `from` and `to`.
  std::vector<uint32_t> hosts;
  std::vector<uint32_t> from;
  std::vector<uint32_t> to;
  bool cross_rack = false;
  uint32_t flows = 0;  // random
  uint32_t qps = 1;    // per flow
  Scaling scaling = Scaling::kEach;
  uint32_t first_qp = 0;     // 0: wherever the host's numbers have got to
  uint16_t source_port = 0;  // of every QP; 0: rxe_source_port()
  dataplane::Rate rate;      // of a flow, shared by its QPs; zero: the port's
  // The rest of every flow: verb, sizes, start, dscp … Its id, addresses, QPs, source port and rate are set here.
  FlowConfig flow;
  SinkConfig sink;  // likewise: its id, QPs, source and first PSN are set here
};

struct PlannedFlow {
  uint32_t workload;     // which of those given
  uint32_t source;       // of the endpoints
  uint32_t destination;  // of the endpoints
  FlowConfig flow;       // its id is the flow's index in the plan
  SinkConfig sink;       // with the same id
};

// Or what is wrong with the workloads, as sentences that begin with "workload N".
std::expected<std::vector<PlannedFlow>, std::vector<std::string>> plan_flows(std::span<const Workload> workloads,
                                                                             std::span<const Endpoint> endpoints,
                                                                             uint64_t seed);

}  // namespace softspine::testbeds
