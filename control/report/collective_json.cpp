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

std::string_view algorithm_word(const CollectiveShape& shape) {
  return algorithm_row(shape.algorithm)->word;
}

Json size_json(const CollectiveSizeSnapshot& size) {
  const auto rate = [&](double bytes_per_second) {
    return size.done == 0 ? Json() : Json(static_cast<uint64_t>(bytes_per_second * 8));
  };
  const auto time = [&](dataplane::Duration value) { return size.done == 0 ? Json() : Json(value.count_ps()); };
  return {{"algorithm", algorithm_word(size.shape)},
          {"protocol", word_for(size.shape.protocol)},
          {"done", size.done},
          {"time_ps", time(size.mean)},
          {"time_min_ps", time(size.shortest)},
          {"time_max_ps", time(size.longest)},
          {"algbw_bps", rate(algorithm_bandwidth(size.shape, size.mean))},
          {"busbw_bps", rate(bus_bandwidth(size.shape, size.mean))}};
}

Json times_json(const RankTimes& times) {
  return {{"host", times.host},
          {"waited_ps", times.waited.count_ps()},
          {"sending_ps", times.sending.count_ps()},
          {"receiving_ps", times.receiving.count_ps()},
          {"reducing_ps", times.reducing.count_ps()},
          {"posting_ps", times.posting.count_ps()}};
}

void add_time_fields(std::vector<ReportField>& out, const std::string& of, const std::string& which) {
  const std::string begin = "collectives.*." + of + ".";
  out.push_back({begin + "host", "text", "The rank that waited " + which + " for others."});
  out.push_back({begin + "waited_ps", "ps", "For how long it had nothing under way but receives."});
  out.push_back({begin + "sending_ps", "ps", "For how long it had sends under way, to their acknowledgements."});
  out.push_back({begin + "receiving_ps", "ps", "For how long it had receives under way."});
  out.push_back({begin + "reducing_ps", "ps", "For how long it reduced or copied, at `reduce_rate`."});
  out.push_back({begin + "posting_ps", "ps", "For how long its proxy posted messages, at `post_cost`."});
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
             {"servers", first.ranks / first.per_server},
             {"ranks_done", collective.ranks_done},
             {"ended_ps", collective.ended.is_never() ? Json() : Json(collective.ended.count_ps())},
             {"sizes", std::move(sizes)},
             {"messages_sent", collective.messages_sent},
             {"scale_up_messages", collective.scale_up_messages},
             {"scale_up_bytes", collective.scale_up_bytes},
             {"messages_received", collective.messages_received},
             {"messages_unclaimed", collective.messages_unclaimed},
             {"received_bytes", collective.received_bytes},
             {"clears_sent", collective.clears_sent},
             {"clears_received", collective.clears_received},
             {"most_open", collective.most_open},
             {"least_wait", times_json(collective.least_wait)},
             {"longest_wait", times_json(collective.longest_wait)},
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
                 grouped(size.shape.bytes), std::string(algorithm_word(size.shape)),
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
  std::vector<ReportField> out{
      {"collectives.*.op", "text", "What its ranks do together."},
      {"collectives.*.ranks", "a count", "Ranks, one a host."},
      {"collectives.*.servers", "a count",
       "Machines that the algorithm goes by; as many as ranks if their GPUs differ."},
      {"collectives.*.ranks_done", "a count", "Ranks that have ended all sizes and iterations."},
      {"collectives.*.ended_ps", "ps", "Instant at which the last of these ranks ended; null if there is none."},
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
      {"collectives.*.messages_sent", "a count", "Messages of all ranks that are acknowledged, however many parts."},
      {"collectives.*.scale_up_messages", "a count", "Messages of these that went beside the fabric, in one server."},
      {"collectives.*.scale_up_bytes", "bytes", "Bytes of the messages that went beside the fabric."},
      {"collectives.*.messages_received", "a count", "Messages that ranks have received whole."},
      {"collectives.*.messages_unclaimed", "a count", "Messages that have come before their rank asked for them."},
      {"collectives.*.received_bytes", "bytes", "Bytes of the messages that were received."},
      {"collectives.*.clears_sent", "a count", "Clear-to-sends of all ranks, with `admission: receiver`."},
      {"collectives.*.clears_received", "a count", "Clear-to-sends that have come."},
      {"collectives.*.most_open", "a count", "Most operations that a rank had open at once."},
      {"collectives.*.waiting.*.rank", "a count", "A rank that has not ended."},
      {"collectives.*.waiting.*.host", "text", "The host of that rank."},
      {"collectives.*.waiting.*.for", "text", "What its first operation that is not done waits for."},
  };
  add_time_fields(out, "least_wait", "least");
  add_time_fields(out, "longest_wait", "longest");
  return out;
}

}  // namespace softspine::control
