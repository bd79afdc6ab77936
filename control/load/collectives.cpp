// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>

#include "control/collectives/collective_algorithms.hpp"
#include "control/collectives/collective_work.hpp"
#include "control/load/collective_shapes.hpp"
#include "control/load/planned_collectives.hpp"
#include "control/load/resolve.hpp"
#include "control/rows/collective_formats.hpp"
#include "control/traffic/flow.hpp"

namespace softspine::control {
namespace {

constexpr uint64_t kMaxQueuePairs = 1ULL << 22;

// Messages by (from, to, channel), over all sizes and iterations.
using Connections = std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint64_t>;

class CollectiveResolver {
 public:
  CollectiveResolver(Reader& reader, const Fabric& fabric) : reader_(reader), fabric_(fabric) {}

  // Nothing if it has complained.
  std::optional<CollectiveRun> resolve(const CollectiveRow& row, uint32_t number, Workload& workload) {
    CollectiveRun out{.name = row.name,
                      .ranks = in_order_of_ranks(fabric_, workload.hosts),
                      .iterations = row.iterations,
                      .start = dataplane::Instant::at(row.start),
                      .compute = row.compute,
                      .reduce_rate = row.reduce_rate.value_or(dataplane::Rate{}),
                      .post_cost = row.post_cost,
                      .workload = number,
                      .place = place_of(row.where)};
    connections_.clear();
    workload.message_bytes = kMaxMessageBytes;
    if (!has_good_root(row, out) || !has_good_algorithm(row) || !has_one_scale_up(row, out)) return std::nullopt;
    const std::vector<Value> places = row.where.child("size").each();
    for (size_t i = 0; i < row.size.items.size(); ++i) {
      const uint64_t bytes = row.size.items[i].count;
      if (!is_good_size(bytes, places[i], out)) return std::nullopt;
      const CollectiveShape asked{
          .protocol = row.protocol, .ranks = static_cast<uint32_t>(out.ranks.size()), .bytes = bytes};
      if (!goes_by_plan(reader_, row, asked, places[i])) return std::nullopt;
      const auto shape = shape_of(row, fabric_, out.ranks, bytes);
      if (!shape || !take_connections(row, *shape, out, places[i], workload)) return std::nullopt;
      out.shapes.push_back(*shape);
    }
    connect(out, workload);
    return out;
  }

  // A small message of each receiver for each one that it takes: NCCL's slot of 64 bytes.
  std::optional<Workload> clears_of(const CollectiveRow& row, const Workload& data, const Testbed& testbed) {
    if (row.admission == Admission::kOpen) {
      if (row.clear_dscp) reader_.fail(row.where.child("clear_dscp"), "needs 'admission: receiver'");
      return std::nullopt;
    }
    Workload out = data;
    out.name = data.name + "-cts";
    if (std::ranges::find(testbed.workloads, out.name, &Workload::name) != testbed.workloads.end())
      reader_.fail(row.where.child("name"), "needs the name " + shown(out.name) + ", which a workload has");
    std::swap(out.from, out.to);
    out.message_bytes = kClearBytes;
    out.qps = 1;
    if (row.clear_dscp) {
      out.dscp = *row.clear_dscp;
      out.dscp_given = true;
    }
    return out;
  }

 private:
  bool is_good_size(uint64_t bytes, Value where, const CollectiveRun& run) {
    if (bytes == 0 || bytes > kMaxCollectiveBytes) return reader_.fail(where, "must be 1B to 16GiB");
    // Reports find a size by its bytes.
    const bool is_new = std::ranges::none_of(run.shapes, [&](const CollectiveShape& it) { return it.bytes == bytes; });
    return is_new || reader_.fail(where, "stands here twice: 'iterations' repeats a size");
  }

  bool has_good_root(const CollectiveRow& row, const CollectiveRun& run) {
    const bool has_root = row.op == Collective::kBroadcast || row.op == Collective::kReduce;
    const Value where = row.where.child("root");
    if (row.root && !has_root) return reader_.fail(where, "is for broadcast and reduce");
    if (row.root && *row.root >= run.ranks.size()) {
      return reader_.fail(where, "is no rank: there are " + std::to_string(run.ranks.size()) + ", from 0");
    }
    return true;
  }

  // What joins a server's GPUs is one thing.
  bool has_one_scale_up(const CollectiveRow& row, const CollectiveRun& run) {
    std::map<std::string_view, const FabricNode*> first_of;
    for (const uint32_t rank : run.ranks) {
      const FabricNode& node = fabric_.nodes[rank];
      const FabricNode& first = *first_of.emplace(node.server, &node).first->second;
      if (node.builtin.scale_up_rate == first.builtin.scale_up_rate &&
          node.builtin.scale_up_latency == first.builtin.scale_up_latency)
        continue;
      return reader_.fail(row.where.child(row.ranks ? "ranks" : "name"),
                          node.name + " and " + first.name +
                              " are in one server, and differ in 'scale_up_rate' or "
                              "'scale_up_latency'");
    }
    return true;
  }

  bool has_good_algorithm(const CollectiveRow& row) {
    const AlgorithmRow* const algorithm = algorithm_row(row.algorithm);
    return algorithm == nullptr || algorithm->has(row.op) ||
           reader_.fail(row.where.child("algorithm"), std::string(word_of(row.op)) + " is " + listed(words_of(row.op)) +
                                                          ", not " + shown(algorithm->word));
  }

  static std::vector<std::string_view> words_of(Collective op) {
    std::vector<std::string_view> out;
    for (const AlgorithmRow& each : kCollectiveAlgorithms) {
      if (each.has(op)) out.push_back(each.word);
    }
    return out;
  }

  bool take_connections(const CollectiveRow& row, const CollectiveShape& shape, const CollectiveRun& run, Value where,
                        Workload& workload) {
    for (uint32_t rank = 0; rank < shape.ranks; ++rank) {
      for (const CollectiveConnection& each : connections_of(shape, rank)) {
        if (each.largest > kMaxMessageBytes) {
          return reader_.fail(where,
                              "makes messages of " + std::to_string(each.largest) +
                                  " bytes, and a queue pair sends 2GiB at most: more channels make them smaller");
        }
        connections_[{rank, each.peer, each.channel}] += each.messages * row.iterations;
        if (is_one_server(run.ranks[rank], run.ranks[each.peer])) continue;
        workload.message_bytes = std::min(workload.message_bytes, std::max<uint64_t>(1, each.bytes / each.messages));
      }
    }
    return connections_.size() * row.qps <= kMaxQueuePairs ||
           reader_.fail(row.where, "has more than " + std::to_string(kMaxQueuePairs) + " queue pairs");
  }

  bool is_one_server(uint32_t a, uint32_t b) const { return fabric_.nodes[a].server == fabric_.nodes[b].server; }

  void connect(CollectiveRun& run, Workload& workload) {
    workload.pattern = Pattern::kPairs;
    workload.messages = 0;
    workload.hosts.clear();
    for (const auto& [key, messages] : connections_) {
      const auto& [from, to, channel] = key;
      if (is_one_server(run.ranks[from], run.ranks[to])) {
        run.scale_up.push_back({from, to, channel});
        continue;
      }
      workload.from.push_back(run.ranks[from]);
      workload.to.push_back(run.ranks[to]);
      workload.posted.push_back(messages);
      run.from_rank.push_back(from);
      run.to_rank.push_back(to);
      run.channel.push_back(channel);
    }
  }

  Reader& reader_;
  const Fabric& fabric_;
  Connections connections_;  // of the collective that is resolved
};

}  // namespace

void resolve_collectives(Reader& reader, const std::vector<CollectiveRow>& rows, const Fabric& fabric,
                         Testbed& testbed) {
  if (reader.log().count() != 0) return;  // nobody will have them
  CollectiveResolver resolver(reader, fabric);
  const size_t first = testbed.workloads.size() - rows.size();
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto number = static_cast<uint32_t>(first + i);
    auto run = resolver.resolve(rows[i], number, testbed.workloads[number]);
    if (!run) continue;
    if (auto clears = resolver.clears_of(rows[i], testbed.workloads[number], testbed)) {
      run->clears = static_cast<uint32_t>(testbed.workloads.size());
      testbed.workloads.push_back(std::move(*clears));
    }
    testbed.collectives.push_back(std::move(*run));
  }
}

}  // namespace softspine::control
