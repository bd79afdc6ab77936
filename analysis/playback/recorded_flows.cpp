// SPDX-License-Identifier: Apache-2.0
#include "analysis/playback/recorded_flows.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "control/telemetry/json.hpp"

namespace softspine::analysis {

using control::Database;
using control::Json;
using control::Statement;

namespace {

struct FoundFlow {
  int64_t flow = 0;
  int64_t way = 0;
  std::optional<int64_t> sent_bytes;
  std::optional<int64_t> cnps;
};

Json or_null(const std::optional<int64_t>& value) {
  return value ? Json(*value) : Json();
}

bool is_there(Database& recording, const std::string& table, const std::string& name) {
  Statement query{recording, "SELECT 1 FROM " + table + " WHERE name = ?1"};
  return query.add(name).next();
}

// Ways of the instant: each flow's last one by then. ?1: the instant, ?2: a host or null, ?3: a port or null.
constexpr const char* kWays =
    "WITH ways AS (SELECT max(way_id) AS way_id, flow_id FROM flow_ways WHERE t_ps <= ?1 AND flow_id IS NOT NULL "
    "GROUP BY flow_id), "
    "asked AS (SELECT way_id, flow_id, sent_bytes FROM ways JOIN flows USING(flow_id) "
    "WHERE ?2 IS NULL OR source = ?2 OR destination = ?2), "
    "found AS (SELECT * FROM asked WHERE ?3 IS NULL OR way_id IN (SELECT way_id FROM flow_way_ports JOIN ports "
    "USING(port_id) WHERE ports.name = ?3)) ";

void add_wanted(Statement& query, const WantedFlows& wanted) {
  query.add(wanted.at_ps);
  wanted.node.empty() ? query.add_null() : query.add(wanted.node);
  wanted.port.empty() ? query.add_null() : query.add(wanted.port);
}

// What it had sent by then; nothing of an open loop before the end.
void count_sent(Database& recording, const WantedFlows& wanted, FoundFlow& flow) {
  Statement query{recording, wanted.is_end ? "SELECT sent_bytes, cnps FROM flows WHERE flow_id = ?1"
                                           : "SELECT total(sent_bytes), total(cnps) FROM flow_samples WHERE flow_id = "
                                             "?1 AND t_ps <= ?2 AND (SELECT reliable FROM flows WHERE flow_id = ?1)"
                                             " HAVING (SELECT reliable FROM flows WHERE flow_id = ?1)"};
  query.add(flow.flow);
  if (!wanted.is_end) query.add(wanted.at_ps);
  if (!query.next()) return;
  flow.sent_bytes = query.number(0);
  flow.cnps = query.number(1);
}

std::string state_at(const Statement& row, const WantedFlows& wanted) {
  const bool has_begun = !row.is_null(6) && row.number(6) <= wanted.at_ps;
  if (!has_begun) return "not begun";
  if (!row.is_null(7) && row.number(6) + row.number(7) <= wanted.at_ps) return "ended";
  return wanted.is_end && !row.is_null(8) ? row.text(8) : "goes on";
}

Json path_of(Database& recording, int64_t way) {
  Json out = Json::array();
  Statement query{recording,
                  "SELECT ports.name FROM flow_way_ports JOIN ports USING(port_id) WHERE way_id = ?1 ORDER BY hop"};
  query.add(way);
  while (query.next()) out.push_back(query.text(0));
  return out;
}

Json row_of(Database& recording, const WantedFlows& wanted, const FoundFlow& flow) {
  Statement row{recording,
                "SELECT workload, source, source_qp, destination, destination_qp, source_port, first_sent_ps, "
                "iif(reliable, fct_acked_ps, fct_ps), stalled, received_bytes, marked_packets, retransmitted_packets, "
                "is_drawn, end FROM flows JOIN flow_ways USING(flow_id) WHERE way_id = ?1"};
  if (!row.add(flow.way).next()) return nullptr;
  const auto at_end = [&](int column) { return wanted.is_end ? Json(row.number(column)) : Json(); };
  return {{"flow", flow.flow},
          {"workload", row.text(0)},
          {"source", row.text(1)},
          {"source_qp", row.number(2)},
          {"destination", row.text(3)},
          {"destination_qp", row.number(4)},
          {"source_port", row.number(5)},
          {"sent_bytes", or_null(flow.sent_bytes)},
          {"received_bytes", at_end(9)},
          {"marked_packets", at_end(10)},
          {"cnps", or_null(flow.cnps)},
          {"retransmitted_packets", at_end(11)},
          {"state", state_at(row, wanted)},
          {"path", path_of(recording, flow.way)},
          {"is_drawn", row.number(12) != 0},
          {"end", row.text(13)}};
}

// Those that have sent most by then first.
std::vector<FoundFlow> ranked(Database& recording, const WantedFlows& wanted) {
  std::vector<FoundFlow> out;
  Statement query{recording,
                  std::string(kWays) + "SELECT flow_id, way_id FROM found ORDER BY sent_bytes DESC, flow_id LIMIT ?4"};
  add_wanted(query, wanted);
  query.add(kMostRanked);
  while (query.next()) out.push_back({.flow = query.number(0), .way = query.number(1)});
  for (FoundFlow& each : out) count_sent(recording, wanted, each);
  std::ranges::stable_sort(out, std::greater{}, [](const FoundFlow& it) { return it.sent_bytes.value_or(-1); });
  return out;
}

std::string lacks_of(Database& recording, const WantedFlows& wanted, const std::vector<FoundFlow>& flows) {
  Statement table{recording, "SELECT 1 FROM sqlite_schema WHERE name = 'flow_ways'"};
  if (!table.next()) return "The program that recorded this was older: it has no ways of flows.";
  Statement any{recording, "SELECT (SELECT count(*) FROM flow_ways), (SELECT count(*) FROM flows)"};
  if (!any.next() || any.number(0) == 0)
    return "The recording has no ways of flows: there are none, or it was made over ranks.";
  if (any.number(1) == 0) return "The run did not reach its end: the recording does not have its flows.";
  Statement cut{recording, "SELECT t_ps FROM flow_ways WHERE flow_id IS NULL AND t_ps <= ?1"};
  std::string out;
  if (cut.add(wanted.at_ps).next())
    out = "Ways that changed after " + std::to_string(cut.number(0) / 1'000'000) + " us were not recorded.";
  const auto is_unknown = [](const FoundFlow& it) { return !it.sent_bytes; };
  if (std::ranges::any_of(flows, is_unknown))
    out += std::string(out.empty() ? "" : " ") +
           "Of open loops a recording has what they sent in all, at the end of the run.";
  return out;
}

}  // namespace

Json recorded_flow_paths(Database& recording, const WantedFlows& wanted) {
  const bool knows_port = wanted.port.empty() || is_there(recording, "ports", wanted.port);
  const bool knows_node = wanted.node.empty() || is_there(recording, "nodes", wanted.node);
  if (!knows_port || !knows_node) return nullptr;
  Json out{{"at_ps", wanted.at_ps}, {"flows", 0}, {"followed", 0}, {"found", 0}, {"sent_bytes", nullptr}};
  Json rows = Json::array();
  std::vector<FoundFlow> flows;
  Statement table{recording, "SELECT 1 FROM sqlite_schema WHERE name = 'flow_ways'"};
  if (table.next()) {
    Statement counts{recording,
                     std::string(kWays) + "SELECT (SELECT count(*) FROM asked), (SELECT count(*) FROM found)"};
    add_wanted(counts, wanted);
    flows = ranked(recording, wanted);
    if (counts.next()) {
      out["flows"] = out["followed"] = counts.number(0);
      out["found"] = counts.number(1);
    }
    int64_t sent = 0;
    for (const FoundFlow& each : flows) sent += each.sent_bytes.value_or(0);
    const bool knows_all = out["found"] <= kMostRanked &&
                           std::ranges::all_of(flows, [](const FoundFlow& it) { return it.sent_bytes.has_value(); });
    if (knows_all) out["sent_bytes"] = sent;
    for (size_t i = 0; i < flows.size() && std::cmp_less(i, wanted.most); ++i)
      rows.push_back(row_of(recording, wanted, flows[i]));
  }
  out["rows"] = std::move(rows);
  if (const std::string lacks = lacks_of(recording, wanted, flows); !lacks.empty()) out["lacks"] = lacks;
  return out;
}

}  // namespace softspine::analysis
