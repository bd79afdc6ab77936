// SPDX-License-Identifier: Apache-2.0
// Which algorithms there are, what each is for, and the words of a testbed. A further one is a file and a row here.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "control/collectives/collective_stream.hpp"
#include "control/collectives/cut.hpp"
#include "control/model/collective.hpp"

namespace softspine::control {

Lanes ring_lanes(const CollectiveShape& shape, const Cut& cut, uint32_t rank);
Lanes tree_lanes(const CollectiveShape& shape, const Cut& cut, uint32_t rank);
Lanes halving_doubling_lanes(const CollectiveShape& shape, const Cut& cut, uint32_t rank);
Lanes hierarchical_lanes(const CollectiveShape& shape, const Cut& cut, uint32_t rank);
Lanes plan_lanes(const CollectiveShape& shape, const Cut& cut, uint32_t rank);
Lanes direct_lanes(const CollectiveShape& shape, const Cut& cut, uint32_t rank);

// A bit for each collective.
constexpr uint32_t fit(std::initializer_list<Collective> collectives) {
  uint32_t bits = 0;
  for (const Collective collective : collectives) bits |= 1U << static_cast<uint32_t>(collective);
  return bits;
}

// What ring and halving have in common: a lane a channel.
template <typename OfAlgorithm>
Lanes lane_of_each_channel(const CollectiveShape& shape, const Cut& cut, uint32_t rank) {
  Lanes lanes;
  for (uint32_t channel = 0; channel < cut.channels(); ++channel) {
    lanes.push_back(std::make_unique<OfAlgorithm>(shape, cut, rank, channel));
  }
  return lanes;
}

struct AlgorithmRow {
  CollectiveAlgorithm algorithm;
  std::string_view word;
  Lanes (*lanes)(const CollectiveShape&, const Cut&, uint32_t rank);
  uint32_t fits;

  constexpr bool has(Collective collective) const { return (fits & fit({collective})) != 0; }
};

inline constexpr std::array kCollectiveAlgorithms{
    AlgorithmRow{CollectiveAlgorithm::kRing, "ring", ring_lanes,
                 fit({Collective::kAllReduce, Collective::kAllGather, Collective::kReduceScatter,
                      Collective::kBroadcast, Collective::kReduce})},
    AlgorithmRow{CollectiveAlgorithm::kTree, "tree", tree_lanes, fit({Collective::kAllReduce})},
    AlgorithmRow{CollectiveAlgorithm::kHalvingDoubling, "halving_doubling", halving_doubling_lanes,
                 fit({Collective::kAllReduce, Collective::kAllGather, Collective::kReduceScatter})},
    AlgorithmRow{CollectiveAlgorithm::kHierarchical, "hierarchical", hierarchical_lanes, fit({Collective::kAllReduce})},
    AlgorithmRow{
        CollectiveAlgorithm::kDirect, "direct", direct_lanes,
        fit({Collective::kAllToAll, Collective::kAllGather, Collective::kReduceScatter, Collective::kSendRecv})},
};

// Not among those that a testbed names: it comes with a file, which says what it is for.
inline constexpr AlgorithmRow kPlannedAlgorithm{
    CollectiveAlgorithm::kPlan, "plan", plan_lanes,
    fit({Collective::kAllReduce, Collective::kAllGather, Collective::kReduceScatter, Collective::kAllToAll})};

struct CollectiveWord {
  Collective collective;
  std::string_view word;
};
inline constexpr std::array kCollectiveWords{
    CollectiveWord{Collective::kAllReduce, "all_reduce"},
    CollectiveWord{Collective::kAllGather, "all_gather"},
    CollectiveWord{Collective::kReduceScatter, "reduce_scatter"},
    CollectiveWord{Collective::kBroadcast, "broadcast"},
    CollectiveWord{Collective::kReduce, "reduce"},
    CollectiveWord{Collective::kAllToAll, "all_to_all"},
    CollectiveWord{Collective::kSendRecv, "send_recv"},
};

struct ProtocolWord {
  CollectiveProtocol protocol;
  std::string_view word;
};
inline constexpr std::array kProtocolWords{
    ProtocolWord{CollectiveProtocol::kSimple, "simple"},
    ProtocolWord{CollectiveProtocol::kLl, "ll"},
    ProtocolWord{CollectiveProtocol::kLl128, "ll128"},
};

constexpr std::string_view word_for(Collective collective) {
  return std::ranges::find(kCollectiveWords, collective, &CollectiveWord::collective)->word;
}
// Of one that is chosen: no kAuto.
constexpr std::string_view word_for(CollectiveProtocol protocol) {
  return std::ranges::find(kProtocolWords, protocol, &ProtocolWord::protocol)->word;
}

// Null: none, as for kAuto.
constexpr const AlgorithmRow* algorithm_row(CollectiveAlgorithm algorithm) {
  if (algorithm == CollectiveAlgorithm::kPlan) return &kPlannedAlgorithm;
  const auto* row = std::ranges::find(kCollectiveAlgorithms, algorithm, &AlgorithmRow::algorithm);
  return row == kCollectiveAlgorithms.end() ? nullptr : row;
}

}  // namespace softspine::control
