// SPDX-License-Identifier: Apache-2.0
#include "control/collectives/collective_work.hpp"

#include <map>
#include <utility>

#include "control/collectives/collective_algorithms.hpp"
#include "control/collectives/cut.hpp"
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

std::vector<Connection> counted(const CollectiveShape& shape, uint32_t rank, OperationKind kind) {
  std::map<std::pair<uint32_t, uint32_t>, Connection> found;
  const auto stream = stream_of(shape, rank);
  Operation operation;
  while (stream->next(operation)) {
    if (operation.kind != kind) continue;
    Connection& connection = found[{operation.channel, operation.peer}];
    ++connection.messages;
    connection.bytes += operation.bytes;
  }
  std::vector<Connection> connections;
  connections.reserve(found.size());
  for (const auto& [key, connection] : found) {
    connections.push_back({key.second, key.first, connection.messages, connection.bytes});
  }
  return connections;
}

}  // namespace

std::unique_ptr<CollectiveStream> stream_of(const CollectiveShape& shape, uint32_t rank) {
  const Cut cut(shape);
  return std::make_unique<CollectiveStream>(lanes_of(shape, cut, rank), shape.protocol, cut.slots());
}

uint32_t least_window(const CollectiveShape& shape, uint32_t rank) {
  constexpr uint32_t kMaxOfAStep = 4;  // of a tree's inner rank: two receives, a work, a send, or the reverse
  const Cut cut(shape);
  const auto lanes = static_cast<uint32_t>(lanes_of(shape, cut, rank).size());
  return (cut.slices() + 1) * kMaxOfAStep * lanes;
}

std::vector<Connection> connections_of(const CollectiveShape& shape, uint32_t rank) {
  return counted(shape, rank, OperationKind::kSend);
}

std::vector<Connection> arrivals_of(const CollectiveShape& shape, uint32_t rank) {
  return counted(shape, rank, OperationKind::kReceive);
}

}  // namespace softspine::control
