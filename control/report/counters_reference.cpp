// SPDX-License-Identifier: Apache-2.0
#include "control/report/counters_reference.hpp"

#include <array>
#include <string>
#include <string_view>

#include "control/telemetry/counter.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::control {

namespace {

std::string_view unit_word(CounterUnit unit) {
  switch (unit) {
    case CounterUnit::kCount: return "a count";
    case CounterUnit::kPackets: return "packets";
    case CounterUnit::kFrames: return "frames";
    case CounterUnit::kMessages: return "messages";
    case CounterUnit::kBytes: return "bytes";
    case CounterUnit::kBytesPerSecond: return "bytes per second";
    case CounterUnit::kPicoseconds: return "time";
    case CounterUnit::kYesNo: return "0 or 1";
  }
  return "";
}

// `parts`: what the table's parts are called, in their order.
template <typename... Parts>
void add(Json& out, const std::string& in_report, const std::array<std::string_view, sizeof...(Parts)>& parts,
         const std::vector<Counter<Parts...>>& counters) {
  for (const auto& counter : counters) {
    const CounterFacts& facts = counter.facts;
    Json row{{"of", parts[counter.read.index()]},
             {"unit", unit_word(facts.unit)},
             {"nature", word_for(facts.nature)},
             {"help", facts.help}};
    if (!facts.report.empty()) add_key(row, "report", in_report + std::string{facts.report});
    if (!facts.sai.empty()) add_key(row, "sai", facts.sai);
    if (!facts.metric.empty()) add_key(row, "metric", facts.metric);
    out.push_back(std::move(row));
  }
}

}  // namespace

Json counters_reference() {
  Json out = Json::array();
  add(out, "switches.*.",
      {"switch", "port", "queue", "priority", "port by credit", "priority by credit", "priority group", "buffer pool"},
      switch_counters());
  add(out, "hosts.*.", {"host", "host's port", "host's priority", "host's priority by credit"}, host_counters());
  add(out, "edges.*.", {"edge", "edge's priority"}, edge_counters());
  add(out, "links.*.", {"link"}, link_counters());
  add(out, "flows.*.", {"workload"}, workload_counters());
  add(out, "flows.*.", {"workload"}, reliable_counters());
  return out;
}

}  // namespace softspine::control
