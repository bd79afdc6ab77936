// SPDX-License-Identifier: Apache-2.0
#include "control/report/collective_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "control/collectives/bus_bandwidth.hpp"
#include "control/collectives/collective_algorithms.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::control {

namespace {

std::string_view word_for(CollectiveAlgorithm algorithm) {
  const AlgorithmRow* const row = algorithm_row(algorithm);
  return row == nullptr ? "auto" : row->word;
}
std::string_view word_for(Collective collective) {
  return std::ranges::find(kCollectiveWords, collective, &CollectiveWord::collective)->word;
}
std::string_view word_for(CollectiveProtocol protocol) {
  const auto* const row = std::ranges::find(kProtocolWords, protocol, &ProtocolWord::protocol);
  return row == kProtocolWords.end() ? "auto" : row->word;
}

Json size_json(const CollectiveSizeSnapshot& size) {
  const auto rate = [&](double bytes_per_second) {
    return size.done == 0 ? Json() : Json(static_cast<uint64_t>(bytes_per_second * 8));
  };
  const auto time = [&](dataplane::Duration value) { return size.done == 0 ? Json() : Json(value.count_ps()); };
  return {{"algorithm", word_for(size.shape.algorithm)},
          {"protocol", word_for(size.shape.protocol)},
          {"done", size.done},
          {"time_ps", time(size.mean)},
          {"time_min_ps", time(size.shortest)},
          {"time_max_ps", time(size.longest)},
          {"algbw_bps", rate(algorithm_bandwidth(size.shape, size.mean))},
          {"busbw_bps", rate(bus_bandwidth(size.shape, size.mean))}};
}

Json wait_json(const RankWait& wait) {
  return {{"host", wait.host}, {"waited_ps", wait.waited.count_ps()}};
}

}  // namespace

Json collectives_json(const FabricSnapshot& snapshot) {
  Json out = Json::object();
  for (const CollectiveSnapshot& collective : snapshot.collectives) {
    Json sizes = Json::object();
    for (const CollectiveSizeSnapshot& size : collective.sizes) {
      add_key(sizes, std::to_string(size.shape.bytes), size_json(size));
    }
    Json waiting = Json::array();
    for (const WaitingRank& each : collective.waiting) {
      waiting.push_back({{"rank", each.rank}, {"host", each.host}, {"for", each.what}});
    }
    const CollectiveShape& first = collective.sizes.front().shape;
    add_key(out, collective.name,
            {{"op", word_for(first.collective)},
             {"ranks", first.ranks},
             {"ranks_done", collective.ranks_done},
             {"sizes", std::move(sizes)},
             {"clears_sent", collective.clears_sent},
             {"clears_received", collective.clears_received},
             {"least_wait", wait_json(collective.least_wait)},
             {"longest_wait", wait_json(collective.longest_wait)},
             {"waiting", std::move(waiting)}});
  }
  return out;
}

std::string collectives_table(const FabricSnapshot& snapshot) {
  TextTable table{{"<COLLECTIVE", "<OP", "RANKS", "SIZE", "<ALGORITHM", "<PROTOCOL", "DONE", "TIME_US", "ALGBW_GB/s",
                   "BUSBW_GB/s"}};
  for (const CollectiveSnapshot& collective : snapshot.collectives) {
    for (const CollectiveSizeSnapshot& size : collective.sizes) {
      const auto shown = [&](double value) { return size.done == 0 ? std::string("-") : fmt::format("{:.2f}", value); };
      table.add({collective.name, std::string(word_for(size.shape.collective)), std::to_string(size.shape.ranks),
                 grouped(size.shape.bytes), std::string(word_for(size.shape.algorithm)),
                 std::string(word_for(size.shape.protocol)), std::to_string(size.done),
                 shown(static_cast<double>(size.mean.count_ps()) / 1e6),
                 shown(algorithm_bandwidth(size.shape, size.mean) / 1e9),
                 shown(bus_bandwidth(size.shape, size.mean) / 1e9)});
    }
  }
  return table.text();
}

std::string nccl_tables(const FabricSnapshot& snapshot) {
  std::string out;
  for (const CollectiveSnapshot& collective : snapshot.collectives) {
    std::vector<CollectiveTime> times;
    for (const CollectiveSizeSnapshot& size : collective.sizes) {
      if (size.done > 0) times.push_back({size.shape.bytes, size.mean});
    }
    out += fmt::format("# {}\n", collective.name);
    out += nccl_table(collective.sizes.front().shape, times);
  }
  return out;
}

std::vector<ReportField> collective_fields() {
  const std::string size = "collectives.*.sizes.*.";
  return {
      {"collectives.*.op", "text", "What its ranks do together."},
      {"collectives.*.ranks", "a count", "Ranks, one a host."},
      {"collectives.*.ranks_done", "a count", "Ranks that have ended all sizes and iterations."},
      {size + "algorithm", "text", "ring, tree, halving_doubling or direct; with `auto`: what was chosen."},
      {size + "protocol", "text", "simple, ll or ll128; with `auto`: what was chosen."},
      {size + "done", "a count", "Iterations that all ranks have ended."},
      {size + "time_ps", "ps",
       "From the begin of an iteration at a rank to its end there: the mean over ranks and iterations, as nccl-tests "
       "has it; null if none has ended."},
      {size + "time_min_ps", "ps", "Likewise: of the quickest iteration."},
      {size + "time_max_ps", "ps", "Likewise: of the slowest iteration."},
      {size + "algbw_bps", "bit/s", "Bits of the size by time."},
      {size + "busbw_bps", "bit/s",
       "The algorithm's bandwidth, times 2(n-1)/n for all_reduce, (n-1)/n for all_gather, reduce_scatter and "
       "all_to_all: what each rank's link carries."},
      {"collectives.*.clears_sent", "a count", "Clear-to-sends of all ranks, with `admission: receiver`."},
      {"collectives.*.clears_received", "a count", "Those that have come."},
      {"collectives.*.least_wait.host", "text", "The rank that waited least for others: they wait for it."},
      {"collectives.*.least_wait.waited_ps", "ps", "For how long it had nothing under way but receives."},
      {"collectives.*.longest_wait.host", "text", "The rank that waited longest for others."},
      {"collectives.*.longest_wait.waited_ps", "ps", "For how long it had nothing under way but receives."},
      {"collectives.*.waiting.*.rank", "a count", "A rank that has not ended."},
      {"collectives.*.waiting.*.host", "text", "The host of that rank."},
      {"collectives.*.waiting.*.for", "text", "What its first operation that is not done waits for."},
  };
}

}  // namespace softspine::control
