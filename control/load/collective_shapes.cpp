// SPDX-License-Identifier: Apache-2.0
#include "control/load/collective_shapes.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "control/collectives/choice.hpp"
#include "control/collectives/collective_algorithms.hpp"
#include "control/load/planned_collectives.hpp"

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

// How many ranks each server has, if it is the same number: 1 otherwise. They are in the order of the ranks.
uint32_t per_server(const Fabric& fabric, std::span<const uint32_t> hosts) {
  const auto server_of = [&](size_t rank) -> const std::string& { return fabric.nodes[hosts[rank]].server; };
  size_t gpus = 1;
  while (gpus < hosts.size() && server_of(gpus) == server_of(0)) ++gpus;
  if (hosts.size() % gpus != 0) return 1;
  for (size_t rank = 1; rank < hosts.size(); ++rank) {
    if ((server_of(rank) == server_of(rank - 1)) != (rank % gpus != 0)) return 1;
  }
  return static_cast<uint32_t>(gpus);
}

}  // namespace

std::vector<uint32_t> in_order_of_ranks(const Fabric& fabric, std::span<const uint32_t> hosts) {
  std::map<std::string_view, size_t> place_of;
  std::vector<std::vector<uint32_t>> servers;
  for (const uint32_t host : hosts) {
    const auto [found, is_new] = place_of.emplace(fabric.nodes[host].server, servers.size());
    if (is_new) servers.emplace_back();
    servers[found->second].push_back(host);
  }
  std::vector<uint32_t> out;
  for (auto& server : servers) {
    std::ranges::stable_sort(server, {}, [&](uint32_t host) { return fabric.nodes[host].gpu; });
    out.insert(out.end(), server.begin(), server.end());
  }
  return out;
}

std::optional<CollectiveShape> shape_of(const RankKeys& row, Collective op, uint32_t root, const Fabric& fabric,
                                        std::span<const uint32_t> hosts, uint64_t bytes) {
  const AlgorithmRow* const algorithm = algorithm_row(row.algorithm);
  const bool fits = algorithm == nullptr || algorithm->has(op);
  const bool is_possible = hosts.size() >= 2 && root < hosts.size();
  if (!fits || !is_possible || bytes == 0 || bytes > kMaxCollectiveBytes) return std::nullopt;
  const CollectiveShape shape{.collective = op,
                              .algorithm = row.algorithm,
                              .protocol = row.protocol,
                              .ranks = static_cast<uint32_t>(hosts.size()),
                              .per_server = per_server(fabric, hosts),
                              .bytes = bytes,
                              .root = root,
                              .channels = row.channels};
  const uint32_t servers = shape.ranks / shape.per_server;
  const double scale_up = static_cast<double>(fabric.nodes[hosts[0]].builtin.scale_up_rate.count_bps()) / 8e9;
  const double gbytes = servers == 1 ? scale_up : gbytes_of(fabric, hosts) * shape.per_server;
  CollectiveShape out =
      choose(shape, {.servers = servers, .channels = shape.channels, .channel_gbytes = gbytes / shape.channels});
  out.pxn = row.pxn && out.algorithm == CollectiveAlgorithm::kDirect && shape.per_server > 1 && servers > 1;
  return out;
}

std::optional<CollectiveShape> shape_of(const CollectiveRow& row, const Fabric& fabric, std::span<const uint32_t> hosts,
                                        uint64_t bytes) {
  auto shape = shape_of(row, row.op, row.root.value_or(0), fabric, hosts, bytes);
  if (!shape || !row.planned) return shape;
  shape->algorithm = row.algorithm;
  shape->protocol = row.protocol;
  shape->channels = row.channels;
  shape->pxn = false;
  return planned_shape(row, *shape);
}

}  // namespace softspine::control
