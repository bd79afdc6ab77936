// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "control/collectives/collective_algorithms.hpp"
#include "control/load/collective_shapes.hpp"
#include "control/load/planned_collectives.hpp"
#include "control/load/rank_pairs.hpp"
#include "control/load/resolve.hpp"
#include "control/rows/collective_formats.hpp"

namespace softspine::control {
namespace {

class CollectiveResolver {
 public:
  CollectiveResolver(Reader& reader, const Fabric& fabric, Testbed& testbed)
      : reader_(reader), fabric_(fabric), testbed_(testbed) {}

  void resolve(const CollectiveRow& row) {
    const auto workload = std::ranges::find(testbed_.workloads, row.name, &Workload::name);
    RankPairs traffic(reader_, fabric_, row, static_cast<uint32_t>(workload - testbed_.workloads.begin()), testbed_);
    const std::vector<uint32_t>& hosts = traffic.traffic().hosts;
    if (!has_good_root(row, hosts.size()) || !has_good_algorithm(row) || !traffic.has_one_scale_up()) return;
    CollectiveRun out{.name = row.name,
                      .iterations = row.iterations,
                      .start = dataplane::Instant::at(row.start),
                      .compute = row.compute,
                      .place = place_of(row.where)};
    std::vector<uint32_t> ranks(hosts.size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    const std::vector<Value> places = row.where.child("size").each();
    for (size_t i = 0; i < row.size.items.size(); ++i) {
      const uint64_t bytes = row.size.items[i].count;
      if (!is_good_size(bytes, places[i], out)) return;
      const CollectiveShape asked{
          .protocol = row.protocol, .ranks = static_cast<uint32_t>(hosts.size()), .bytes = bytes};
      if (!goes_by_plan(reader_, row, asked, places[i])) return;
      const auto shape = shape_of(row, fabric_, hosts, bytes);
      if (!shape || !traffic.take(*shape, ranks, row.iterations, 0, places[i])) return;
      out.shapes.push_back(*shape);
    }
    if (row.pxn && !out.shapes.front().pxn) reader_.fail(row.where.child("pxn"), kPxnNeeds);
    out.traffic = traffic.finish();
    testbed_.collectives.push_back(std::move(out));
  }

 private:
  bool is_good_size(uint64_t bytes, Value where, const CollectiveRun& run) {
    if (bytes == 0 || bytes > kMaxCollectiveBytes) return reader_.fail(where, "must be 1B to 16GiB");
    // Reports find a size by its bytes.
    const bool is_new = std::ranges::none_of(run.shapes, [&](const CollectiveShape& it) { return it.bytes == bytes; });
    return is_new || reader_.fail(where, "stands here twice: 'iterations' repeats a size");
  }

  bool has_good_root(const CollectiveRow& row, size_t ranks) {
    const bool has_root = row.op == Collective::kBroadcast || row.op == Collective::kReduce;
    const Value where = row.where.child("root");
    if (row.root && !has_root) return reader_.fail(where, "is for broadcast and reduce");
    if (row.root && *row.root >= ranks)
      return reader_.fail(where, "is no rank: there are " + std::to_string(ranks) + ", from 0");
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

  Reader& reader_;
  const Fabric& fabric_;
  Testbed& testbed_;
};

}  // namespace

void resolve_collectives(Reader& reader, const std::vector<CollectiveRow>& rows, const Fabric& fabric,
                         Testbed& testbed) {
  if (reader.log().count() != 0) return;  // nobody will have them
  CollectiveResolver resolver(reader, fabric, testbed);
  for (const CollectiveRow& row : rows) resolver.resolve(row);
}

}  // namespace softspine::control
