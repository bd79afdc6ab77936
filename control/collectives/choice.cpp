// SPDX-License-Identifier: Apache-2.0
#include "control/collectives/choice.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "control/collectives/collective_algorithms.hpp"
#include "control/collectives/cut.hpp"

namespace softspine::control {
namespace {

// µs, of one protocol.
struct HopTimes {
  double tree_base;
  double ring_base;
  double tree_nvlink;
  double ring_nvlink;
  double tree_network;
  double ring_network;
};
constexpr HopTimes kLlTimes{6.8, 6.6, 0.6, 0.6, 5, 2.7};
constexpr HopTimes kLl128Times{14, 14, 1.25, 1.9, 8.5, 4};
constexpr HopTimes kSimpleTimes{8.4, 8.4, 4, 3.4, 14, 14};

// GB/s. Of the tree, a channel's.
struct Limits {
  double ll;
  double ll_amd;
  double tree;
  double tree_ll128;
};
constexpr Limits kOneServer{141, 141, 38.7, 36.7};
constexpr Limits kTwoServers{39, 22.5, 41.4, 36.7};
constexpr Limits kMoreServers{20.4, 19, 36, 29};
constexpr double kRingLl128 = 36.7;

// From 64 B on, below 512 MiB, a factor for each power of two.
using Corrections = std::array<double, 23>;
constexpr Corrections kLlCorrections{1,  1,  1,  1,  .9, .8, .7, .7, .7, .7, .6, .5,
                                     .4, .4, .5, .6, .7, .8, .9, 1,  1,  1,  1};
constexpr Corrections kLl128Corrections{1,  1,  1,  1,  1,  .9, .8, .8, .8, .7, .6, .6,
                                        .6, .6, .6, .6, .8, .9, .9, .9, .9, 1,  1};
constexpr Corrections kSimpleCorrections{.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
                                         .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9};

const Limits& limits_of(const NcclCluster& cluster) {
  if (cluster.servers == 1) return kOneServer;
  return cluster.servers == 2 ? kTwoServers : kMoreServers;
}

double ll_limit(const NcclCluster& cluster) {
  const Limits& limits = limits_of(cluster);
  return cluster.amd_hosts ? limits.ll_amd : limits.ll;
}

const HopTimes& times_of(CollectiveProtocol protocol) {
  if (protocol == CollectiveProtocol::kLl) return kLlTimes;
  return protocol == CollectiveProtocol::kLl128 ? kLl128Times : kSimpleTimes;
}

const Corrections& corrections_of(CollectiveProtocol protocol) {
  if (protocol == CollectiveProtocol::kLl) return kLlCorrections;
  return protocol == CollectiveProtocol::kLl128 ? kLl128Corrections : kSimpleCorrections;
}

double ring_latency(const CollectiveShape& shape, const NcclCluster& cluster) {
  const HopTimes& times = times_of(shape.protocol);
  const bool simple = shape.protocol == CollectiveProtocol::kSimple;
  const bool reduces_all = shape.collective == Collective::kAllReduce;
  const double rounds = reduces_all ? 2 : 1;
  const double steps = rounds * (shape.ranks - 1);
  const double network_steps = rounds * (cluster.servers - 1);
  const double post = (cluster.amd_hosts ? 2.0 : 1.0) * (simple ? 3 : 1);
  // One rank a server: the ring's hops are the tree's.
  const double network = shape.ranks == cluster.servers ? times.tree_network : times.ring_network;
  const double latency =
      times.ring_base + (steps - network_steps) * std::max(times.ring_nvlink, post) + network_steps * network;
  return simple && reduces_all && cluster.servers > 1 ? latency * 1.4 : latency;
}

double ring_gbytes(const CollectiveShape& shape, const NcclCluster& cluster) {
  const double all = cluster.channels * cluster.channel_gbytes;
  double bus = all;
  if (shape.protocol == CollectiveProtocol::kLl) bus = std::min(all / 2, ll_limit(cluster));
  if (shape.protocol == CollectiveProtocol::kLl128) bus = std::min(0.92 * all, cluster.channels * kRingLl128);
  const double share = (shape.ranks - 1.0) / shape.ranks;
  switch (shape.collective) {
    case Collective::kAllReduce: return bus / (2 * share);
    case Collective::kAllGather:
    case Collective::kReduceScatter: return bus / share;
    default: return bus;
  }
}

double tree_latency(const CollectiveShape& shape, const NcclCluster& cluster) {
  const HopTimes& times = times_of(shape.protocol);
  const double chain = static_cast<double>(shape.ranks) / cluster.servers - 1;
  const double depth = std::bit_width(cluster.servers) - 1;
  return times.tree_base + 2 * (chain * times.tree_nvlink + depth * times.tree_network);
}

double tree_gbytes(const CollectiveShape& shape, const NcclCluster& cluster) {
  const Limits& limits = limits_of(cluster);
  const double channels = cluster.channels;
  double bus = std::min(0.92 * channels * cluster.channel_gbytes, channels * limits.tree);
  if (shape.protocol == CollectiveProtocol::kLl) bus = std::min(bus / 3.8, ll_limit(cluster));
  if (shape.protocol == CollectiveProtocol::kLl128) {
    bus = std::min(bus * (cluster.servers == 1 ? 7.0 / 9 : 15.0 / 16), channels * limits.tree_ll128);
  }
  const auto size = static_cast<size_t>(std::bit_width(shape.bytes >> 6U));
  const Corrections& corrections = corrections_of(shape.protocol);
  return bus / 2 * (size == 0 || size > corrections.size() ? 1 : corrections[size - 1]);
}

CollectiveAlgorithm only_algorithm(Collective collective) {
  return collective == Collective::kAllToAll || collective == Collective::kSendRecv ? CollectiveAlgorithm::kDirect
                                                                                    : CollectiveAlgorithm::kRing;
}

CollectiveProtocol pair_protocol(CollectiveShape shape) {
  constexpr uint64_t kMaxBytesOfLl = 16U << 10U;
  shape.protocol = CollectiveProtocol::kSimple;
  return Cut(shape).part(0).bytes <= kMaxBytesOfLl ? CollectiveProtocol::kLl : CollectiveProtocol::kSimple;
}

// NCCL has no such thing, and so no protocol for it.
bool is_of_others(CollectiveAlgorithm algorithm) {
  return algorithm == CollectiveAlgorithm::kHalvingDoubling || algorithm == CollectiveAlgorithm::kHierarchical;
}

// Whether it is what was asked for, and there is such a thing.
bool is_candidate(const CollectiveShape& asked, const CollectiveShape& candidate) {
  const bool has_algorithm = asked.algorithm == CollectiveAlgorithm::kAuto || asked.algorithm == candidate.algorithm;
  const bool has_protocol = asked.protocol == CollectiveProtocol::kAuto || asked.protocol == candidate.protocol;
  return has_algorithm && has_protocol && algorithm_row(candidate.algorithm)->has(candidate.collective);
}

}  // namespace

double expected_us(const CollectiveShape& shape, const NcclCluster& cluster) {
  const bool tree = shape.algorithm == CollectiveAlgorithm::kTree;
  const double latency = tree ? tree_latency(shape, cluster) : ring_latency(shape, cluster);
  const double gbytes = tree ? tree_gbytes(shape, cluster) : ring_gbytes(shape, cluster);
  return latency + static_cast<double>(shape.bytes) / (1000 * gbytes);
}

CollectiveShape choose(const CollectiveShape& shape, const NcclCluster& cluster) {
  CollectiveShape chosen = shape;
  if (shape.algorithm == CollectiveAlgorithm::kAuto &&
      only_algorithm(shape.collective) == CollectiveAlgorithm::kDirect) {
    chosen.algorithm = CollectiveAlgorithm::kDirect;
  }
  if (chosen.algorithm == CollectiveAlgorithm::kDirect || is_of_others(chosen.algorithm)) {
    const bool pairs = chosen.algorithm == CollectiveAlgorithm::kDirect;
    if (shape.protocol == CollectiveProtocol::kAuto) {
      chosen.protocol = pairs ? pair_protocol(chosen) : CollectiveProtocol::kSimple;
    }
    return chosen;
  }
  double least = std::numeric_limits<double>::infinity();
  for (const auto algorithm : {CollectiveAlgorithm::kTree, CollectiveAlgorithm::kRing}) {
    for (const auto& [protocol, word] : kProtocolWords) {
      CollectiveShape candidate = shape;
      candidate.algorithm = algorithm;
      candidate.protocol = protocol;
      if (!is_candidate(shape, candidate) || expected_us(candidate, cluster) >= least) continue;
      least = expected_us(candidate, cluster);
      chosen = candidate;
    }
  }
  return chosen;
}

}  // namespace softspine::control
