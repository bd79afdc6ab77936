// SPDX-License-Identifier: Apache-2.0
#include "control/report/trace_json.hpp"

#include <fmt/format.h>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::control {
namespace {

Json ended_json(dataplane::Instant ended) {
  return ended.is_never() ? Json() : Json(ended.count_ps());
}

Json ranks_json(const TraceSnapshot& trace) {
  Json out = Json::object();
  for (size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    const TraceRankSnapshot& it = trace.ranks[rank];
    add_key(out, std::to_string(rank),
            {{"host", it.host}, {"ended_ps", ended_json(it.ended)}, {"waited_ps", it.waited.count_ps()}});
  }
  return out;
}

}  // namespace

Json traces_json(const FabricSnapshot& snapshot) {
  Json out = Json::object();
  for (const TraceSnapshot& trace : snapshot.traces) {
    Json waiting = Json::array();
    for (const WaitingRank& each : trace.waiting) {
      waiting.push_back({{"rank", each.rank}, {"host", each.host}, {"for", each.what}});
    }
    add_key(out, trace.name,
            {{"ranks", trace.ranks.size()},
             {"ranks_done", trace.ranks_done},
             {"ended_ps", ended_json(trace.ended)},
             {"operations", trace.operations},
             {"operations_done", trace.operations_done},
             {"opened_late", trace.opened_late},
             {"most_open", trace.most_open},
             {"messages_sent", trace.messages_sent},
             {"messages_received", trace.messages_received},
             {"messages_unclaimed", trace.messages_unclaimed},
             {"messages_longer", trace.messages_longer},
             {"received_bytes", trace.received_bytes},
             {"most_kept", trace.most_kept},
             {"by_rank", ranks_json(trace)},
             {"waiting", std::move(waiting)}});
  }
  return out;
}

std::string traces_table(const FabricSnapshot& snapshot) {
  TextTable table{{"<TRACE", "RANKS", "DONE", "OPERATIONS", "DONE", "MESSAGES", "BYTES", "ENDED_US", "LATE"}};
  for (const TraceSnapshot& trace : snapshot.traces) {
    const std::string ended =
        trace.ended.is_never() ? "-" : fmt::format("{:.3f}", static_cast<double>(trace.ended.count_ps()) / 1e6);
    table.add({trace.name, std::to_string(trace.ranks.size()), std::to_string(trace.ranks_done),
               grouped(trace.operations), grouped(trace.operations_done), grouped(trace.messages_received),
               grouped(trace.received_bytes), ended, grouped(trace.opened_late)});
  }
  return table.text();
}

std::vector<ReportField> trace_fields() {
  return {
      {"traces.*.ranks", "a count", "Ranks, one a host."},
      {"traces.*.ranks_done", "a count", "Ranks that have done all that the trace says."},
      {"traces.*.ended_ps", "ps", "Instant at which the last of these ranks ended; null if there is none."},
      {"traces.*.operations", "a count", "Operations of the trace: sends, receives, computations."},
      {"traces.*.operations_done", "a count", "Of those: that are done."},
      {"traces.*.opened_late", "a count",
       "Operations that might have started earlier, if `open_operations` were larger; 0: it has changed nothing."},
      {"traces.*.most_open", "a count", "Most operations that a rank had open at once."},
      {"traces.*.messages_sent", "a count", "Messages between hosts that are acknowledged."},
      {"traces.*.messages_received", "a count", "Messages that receives took, a rank's to itself too."},
      {"traces.*.messages_unclaimed", "a count", "Messages that have come, and that no receive has taken."},
      {"traces.*.messages_longer", "a count", "Messages with more bytes than the receive that took them asks for."},
      {"traces.*.received_bytes", "bytes", "Bytes of the messages that receives took."},
      {"traces.*.most_kept", "a count", "Most messages of a rank that came before their receives, at once."},
      {"traces.*.by_rank.*.host", "text", "The host of that rank."},
      {"traces.*.by_rank.*.ended_ps", "ps", "Instant at which it had done all; null: it has not."},
      {"traces.*.by_rank.*.waited_ps", "ps", "For how long it had nothing under way but receives."},
      {"traces.*.waiting.*.rank", "a count", "A rank that has not ended."},
      {"traces.*.waiting.*.host", "text", "The host of that rank."},
      {"traces.*.waiting.*.for", "text", "What its first operation that is not done waits for, with the trace's line."},
  };
}

}  // namespace softspine::control
