// SPDX-License-Identifier: Apache-2.0
#include "control/load/rank_pairs.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "control/collectives/collective_work.hpp"
#include "control/load/collective_shapes.hpp"
#include "control/traffic/flow.hpp"

namespace softspine::control {
namespace {

constexpr uint64_t kMaxQueuePairs = 1ULL << 22;

}  // namespace

RankPairs::RankPairs(Reader& reader, const Fabric& fabric, const RankKeys& row, uint32_t workload, Testbed& testbed)
    : reader_(reader),
      fabric_(fabric),
      row_(row),
      testbed_(testbed),
      traffic_{.hosts = in_order_of_ranks(fabric, testbed.workloads[workload].hosts),
               .reduce_rate = row.reduce_rate.value_or(dataplane::Rate{}),
               .post_cost = row.post_cost,
               .workload = workload} {
  testbed_.workloads[workload].message_bytes = kMaxMessageBytes;
}

bool RankPairs::has_one_scale_up() {
  std::map<std::string_view, const FabricNode*> first_of;
  for (const uint32_t host : traffic_.hosts) {
    const FabricNode& node = fabric_.nodes[host];
    const FabricNode& first = *first_of.emplace(node.server, &node).first->second;
    if (node.builtin.scale_up_rate == first.builtin.scale_up_rate &&
        node.builtin.scale_up_latency == first.builtin.scale_up_latency)
      continue;
    return reader_.fail(row_.where.child(row_.ranks ? "ranks" : "name"),
                        node.name + " and " + first.name +
                            " are in one server, and differ in 'scale_up_rate' or "
                            "'scale_up_latency'");
  }
  return true;
}

bool RankPairs::take(const CollectiveShape& shape, std::span<const uint32_t> rank_of, uint64_t times,
                     uint32_t first_channel, Value where) {
  Workload& workload = testbed_.workloads[traffic_.workload];
  for (uint32_t rank = 0; rank < shape.ranks; ++rank) {
    for (const CollectiveConnection& each : connections_of(shape, rank)) {
      if (each.largest > kMaxMessageBytes) {
        return reader_.fail(where, "makes messages of " + std::to_string(each.largest) +
                                       " bytes, and a queue pair sends 2GiB at most: more channels make them smaller");
      }
      const auto [from, to] = std::pair(rank_of[rank], rank_of[each.peer]);
      connections_[{from, to, first_channel + each.channel}] += each.messages * times;
      if (is_one_server(from, to)) continue;
      workload.message_bytes = std::min(workload.message_bytes, std::max<uint64_t>(1, each.bytes / each.messages));
    }
  }
  return connections_.size() * row_.qps <= kMaxQueuePairs ||
         reader_.fail(row_.where, "has more than " + std::to_string(kMaxQueuePairs) + " queue pairs");
}

bool RankPairs::is_one_server(uint32_t a, uint32_t b) const {
  return fabric_.nodes[traffic_.hosts[a]].server == fabric_.nodes[traffic_.hosts[b]].server;
}

RankTraffic RankPairs::finish() {
  Workload& workload = testbed_.workloads[traffic_.workload];
  workload.pattern = Pattern::kPairs;
  workload.messages = 0;
  workload.hosts.clear();
  for (const auto& [key, messages] : connections_) {
    const auto& [from, to, channel] = key;
    if (is_one_server(from, to)) {
      traffic_.scale_up.push_back({from, to, channel});
      continue;
    }
    workload.from.push_back(traffic_.hosts[from]);
    workload.to.push_back(traffic_.hosts[to]);
    workload.posted.push_back(messages);
    traffic_.from_rank.push_back(from);
    traffic_.to_rank.push_back(to);
    traffic_.channel.push_back(channel);
  }
  add_clears();
  return std::move(traffic_);
}

// A small message of each receiver for each one that it takes: NCCL's slot of 64 bytes.
void RankPairs::add_clears() {
  if (row_.admission == Admission::kOpen) {
    if (row_.clear_dscp) reader_.fail(row_.where.child("clear_dscp"), "needs 'admission: receiver'");
    return;
  }
  Workload out = testbed_.workloads[traffic_.workload];
  out.name += "-cts";
  if (std::ranges::find(testbed_.workloads, out.name, &Workload::name) != testbed_.workloads.end())
    reader_.fail(row_.where.child("name"), "needs the name " + shown(out.name) + ", which a workload has");
  std::swap(out.from, out.to);
  out.message_bytes = kClearBytes;
  out.qps = 1;
  out.has_immediates = false;
  out.ports = PortChoice::kPerQp;
  out.transport.verb = Verb::kWrite;
  if (row_.clear_dscp) {
    out.dscp = *row_.clear_dscp;
    out.dscp_given = true;
  }
  traffic_.clears = static_cast<uint32_t>(testbed_.workloads.size());
  testbed_.workloads.push_back(std::move(out));
}

}  // namespace softspine::control
