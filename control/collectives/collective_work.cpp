// SPDX-License-Identifier: Apache-2.0
#include "control/collectives/collective_work.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "control/collectives/collective_algorithms.hpp"
#include "control/collectives/cut.hpp"
#include "control/collectives/plan_cut.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::control {
namespace {

Lanes lanes_of(const CollectiveShape& shape, const Cut& cut, uint32_t rank) {
  const AlgorithmRow* row = algorithm_row(shape.algorithm);
  SOFTSPINE_CHECK(row != nullptr && row->has(shape.collective), shape.algorithm, shape.collective);
  SOFTSPINE_CHECK(shape.protocol != CollectiveProtocol::kAuto && shape.channels > 0, shape.protocol, shape.channels);
  SOFTSPINE_CHECK(rank < shape.ranks && shape.root < shape.ranks, rank, shape.ranks);
  return row->lanes(shape, cut, rank);
}

}  // namespace

std::unique_ptr<CollectiveStream> stream_of(const CollectiveShape& shape, uint32_t rank) {
  const Cut cut(shape);
  const uint32_t marks = shape.plan ? shape.plan->ranks[rank].marks : 0;
  return std::make_unique<CollectiveStream>(lanes_of(shape, cut, rank), shape.protocol, cut.slots(), marks);
}

uint32_t least_window(const CollectiveShape& shape, uint32_t rank) {
  constexpr uint32_t kMaxOfAStep = kMaxPeers + 2;  // of a tree's inner rank: receives, a work, a send, or the reverse
  if (shape.plan) return PlanCut(shape).operations(shape.plan->ranks[rank]);
  const Cut cut(shape);
  const auto lanes = static_cast<uint32_t>(lanes_of(shape, cut, rank).size());
  return (cut.slices() + 1) * kMaxOfAStep * lanes;
}

std::vector<CollectiveConnection> connections_of(const CollectiveShape& shape, uint32_t rank) {
  std::map<std::pair<uint32_t, uint32_t>, CollectiveConnection> found;
  const Cut cut(shape);
  for (const auto& lane : lanes_of(shape, cut, rank)) {
    for (Step step; lane->next(step); step = {}) {
      const uint64_t bytes = wire_bytes(shape.protocol, step.sends().all_bytes());
      for (const uint32_t peer : step.to.all()) {
        const uint32_t channel = step.channel == kUnmarked ? lane->channel() : step.channel;
        CollectiveConnection& connection = found[{channel, peer}];
        ++connection.messages;
        connection.bytes += bytes;
        connection.largest = std::max(connection.largest, bytes);
      }
    }
  }
  std::vector<CollectiveConnection> out;
  out.reserve(found.size());
  for (auto& [key, connection] : found) {
    std::tie(connection.channel, connection.peer) = key;
    out.push_back(connection);
  }
  return out;
}

}  // namespace softspine::control
