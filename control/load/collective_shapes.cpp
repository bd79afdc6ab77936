// SPDX-License-Identifier: Apache-2.0
#include "control/load/collective_shapes.hpp"

#include <algorithm>

#include "control/collectives/choice.hpp"
#include "control/collectives/collective_algorithms.hpp"

namespace softspine::control {
namespace {

// GB/s of the slowest host's links together.
double gbytes_of(const Fabric& fabric, std::span<const uint32_t> hosts) {
  int64_t least = INT64_MAX;
  for (const uint32_t node : hosts) {
    int64_t all = 0;
    for (const FabricPort& port : fabric.nodes[node].ports) all += fabric.links[port.link].rate.count_bps();
    least = std::min(least, all);
  }
  return static_cast<double>(least) / 8e9;
}

}  // namespace

std::optional<CollectiveShape> shape_of(const CollectiveRow& row, const Fabric& fabric, std::span<const uint32_t> hosts,
                                        uint64_t bytes) {
  const AlgorithmRow* const algorithm = algorithm_row(row.algorithm);
  const bool fits = algorithm == nullptr || algorithm->has(row.op);
  const bool is_possible = hosts.size() >= 2 && row.root.value_or(0) < hosts.size();
  if (!fits || !is_possible || bytes == 0 || bytes > kMaxCollectiveBytes) return std::nullopt;
  const CollectiveShape shape{.collective = row.op,
                              .algorithm = row.algorithm,
                              .protocol = row.protocol,
                              .ranks = static_cast<uint32_t>(hosts.size()),
                              .bytes = bytes,
                              .root = row.root.value_or(0),
                              .channels = row.channels};
  // One GPU a server, and no link between GPUs but the fabric.
  return choose(shape, {.servers = shape.ranks,
                        .channels = shape.channels,
                        .channel_gbytes = gbytes_of(fabric, hosts) / shape.channels});
}

}  // namespace softspine::control
