// SPDX-License-Identifier: Apache-2.0
#include "analysis/playback/playback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "analysis/playback/recorded_flows.hpp"
#include "analysis/playback/recorded_groups.hpp"
#include "control/record/recording_file.hpp"
#include "control/report/fabric_map.hpp"
#include "control/report/snapshot_ports.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::analysis {

using control::Database;
using control::Json;
using control::Statement;

namespace {

// "Ethernet0" of "tor1:Ethernet0"
std::string own_name(const std::string& port) {
  return port.substr(port.find(':') + 1);
}

Json priorities_of(int64_t bits) {
  Json out = Json::array();
  for (int i = 0; i < dataplane::kPriorities; ++i) {
    if ((bits >> i & 1) != 0) out.push_back(i);
  }
  return out;
}

control::PortLoad load_of(const RecordedPort& port) {
  const auto queue = std::ranges::max_element(port.queue_bytes);
  return {.paused_ps = std::max(port.link_paused_ps, *std::ranges::max_element(port.paused_ps)),
          .queue = static_cast<size_t>(queue - port.queue_bytes.begin()),
          .queue_bytes = *queue,
          .drops = port.lost};
}

uint64_t on_the_wire(uint64_t bytes, uint64_t packets) {
  return control::wire_bytes({.packets = packets, .bytes = bytes});
}

}  // namespace

std::expected<std::unique_ptr<Playback>, std::string> Playback::open(const std::string& path) {
  auto recording = control::read_recording(path);
  if (!recording) return std::unexpected(path + ": " + recording.error());
  std::unique_ptr<Playback> out{new Playback(std::move(*recording))};
  if (!out->error().empty()) return std::unexpected(path + ": " + out->error());
  return out;
}

Playback::Playback(Database recording) : recording_(std::move(recording)), states_(recording_) {
  testbed_ = fact("testbed");
  version_ = fact("program_version");
  const std::string end = fact("end_ps");
  std::from_chars(end.data(), end.data() + end.size(), end_ps_);
  if (end.empty()) end_ps_ = states_.at(INT64_MAX).at_ps;
  Statement query{recording_,
                  "SELECT peer_port_id, kind = 'host' FROM ports JOIN nodes USING(node_id) ORDER BY port_id"};
  while (query.next()) {
    peers_.push_back(static_cast<uint32_t>(query.number(0)));
    is_host_.push_back(query.number(1) != 0);
  }
}

std::string Playback::fact(const std::string& key) {
  Statement query{recording_, "SELECT value FROM run WHERE key = ?1"};
  return query.add(key).next() ? query.text(0) : "";
}

Json Playback::map() {
  Json nodes = Json::array();
  Statement query{recording_,
                  "SELECT nodes.node_id, nodes.name, tier, ports.name, peer_port_id, rate_bps "
                  "FROM nodes JOIN ports USING(node_id) ORDER BY port_id"};
  int64_t last = -1;
  while (query.next()) {
    if (query.number(0) != last) nodes.push_back(Json::array({query.text(1), query.number(2), Json::array()}));
    last = query.number(0);
    nodes.back().at(2).push_back({own_name(query.text(3)), query.number(4), query.number(5)});
  }
  return {{"testbed", testbed_},
          {"nodes", std::move(nodes)},
          {"recording", {{"end_ps", end_ps_}, {"samples", states_.samples()}, {"lacks", lacks()}}}};
}

Json Playback::lacks() {
  Json out = Json::array({"Of hosts' ports a recording has pauses only: their load is what arrived at the switch."});
  Statement groups{recording_, "SELECT t_ps FROM hash_tables WHERE node_id IS NULL"};
  if (groups.next())
    out.push_back(fmt::format("Hash groups changed too often: it has none after {} ps.", groups.number(0)));
  Statement ranks{recording_, "SELECT 1 FROM jobs WHERE NOT explained"};
  if (ranks.next()) out.push_back("It has what ranks did, not why they waited: `run --steps` finds the reasons.");
  const std::string steps_end = fact("rank_steps_end_ps");
  if (!steps_end.empty()) out.push_back("Ranks did too much: it has none of it after " + steps_end + " ps.");
  if (fact("end_ps").empty()) out.push_back("The run did not reach its end: the recording has no results.");
  return out;
}

Json Playback::fabric() {
  return {{"name", testbed_}, {"clock", fact("clock")}, {"now_ps", end_ps_}, {"recorded_by", version_}};
}

Json Playback::loads(int64_t at_ps) {
  const RecordedState& state = states_.at(at_ps);
  std::vector<control::PortLoad> loads(std::min(state.ports.size(), peers_.size()));
  for (size_t i = 0; i < loads.size(); ++i) {
    const RecordedPort& port = state.ports[i];
    const RecordedPort& peer = state.ports.at(peers_[i]);
    loads[i] = load_of(port);
    loads[i].tx_bytes =
        is_host_[i] ? on_the_wire(peer.rx_bytes, peer.rx_packets) : on_the_wire(port.tx_bytes, port.tx_packets);
  }
  Json drops = Json::object();
  for (size_t i = 0; i < state.lost.size(); ++i) {
    if (state.lost[i] > 0) drops[states_.reasons()[i].name] = state.lost[i];
  }
  return {{"at_ps", state.at_ps},
          {"ports", control::load_rows(loads)},
          {"down", down(state.at_ps)},
          {"drops", std::move(drops)}};
}

// Ports of whose link the last event is that it went down.
Json Playback::down(int64_t at_ps) {
  std::set<int64_t> ports;
  Statement query{recording_,
                  "SELECT event = 'link_down', port_id, peer_port_id FROM events JOIN ports USING(port_id) "
                  "WHERE event IN ('link_down', 'link_up') AND t_ps <= ?1 ORDER BY event_id"};
  query.add(at_ps);
  while (query.next()) {
    for (const int64_t port : {query.number(1), query.number(2)}) {
      if (query.number(0) != 0)
        ports.insert(port);
      else
        ports.erase(port);
    }
  }
  return ports;
}

Json Playback::thresholds(const std::string& node, int64_t at_ps) {
  Statement query{recording_, "SELECT kind = 'switch' FROM nodes WHERE name = ?1"};
  if (!query.add(node).next() || query.number(0) == 0) return nullptr;
  const RecordedState& state = states_.at(at_ps);
  Json out = queue_thresholds(node, state);
  for (Json& row : group_thresholds(node, state)) out.push_back(std::move(row));
  return out;
}

Json Playback::queue_thresholds(const std::string& node, const RecordedState& state) {
  Json out = Json::array();
  Statement query{
      recording_,
      "SELECT port_id, ports.name, queue, min_bytes, max_bytes FROM ecn_thresholds JOIN ports USING(port_id) "
      "JOIN nodes USING(node_id) WHERE nodes.name = ?1"};
  query.add(node);
  while (query.next()) {
    const auto queue = static_cast<uint32_t>(query.number(2));
    const uint64_t bytes = state.ports.at(static_cast<size_t>(query.number(0))).queue_bytes.at(queue);
    out.push_back(control::queue_threshold({own_name(query.text(1)), queue, bytes},
                                           static_cast<uint64_t>(query.number(3)),
                                           static_cast<uint64_t>(query.number(4))));
  }
  return out;
}

// XOFF rises when the group's shared bytes reach fixed_bytes + alpha × what is free in the pool.
Json Playback::group_thresholds(const std::string& node, const RecordedState& state) {
  Json out = Json::array();
  Statement query{recording_,
                  "SELECT port_id, ports.name, priority_group, pool_id, fixed_bytes, alpha, size_bytes "
                  "FROM xoff_thresholds JOIN ports USING(port_id) JOIN nodes USING(node_id) "
                  "JOIN pools ON pools.name = xoff_thresholds.pool WHERE nodes.name = ?1"};
  query.add(node);
  while (query.next()) {
    const RecordedPort& port = state.ports.at(static_cast<size_t>(query.number(0)));
    const auto group = static_cast<uint32_t>(query.number(2));
    const uint64_t bytes = uint64_t{port.group_shared_bytes.at(group)} + port.group_headroom_bytes.at(group);
    const auto used = static_cast<int64_t>(state.pool_shared.at(static_cast<size_t>(query.number(3))));
    const auto free = static_cast<double>(std::max<int64_t>(0, query.number(6) - used));
    const int64_t xoff = query.number(4) + static_cast<int64_t>(query.real(5) * free);
    out.push_back(control::group_threshold({own_name(query.text(1)), group, bytes}, static_cast<uint64_t>(xoff)));
  }
  return out;
}

Json Playback::hash_groups(const std::string& node, int64_t at_ps) {
  const RecordedState& state = states_.at(at_ps);
  return recorded_hash_groups(recording_, node, at_ps, [&state](uint32_t port) -> PortSent {
    return {.packets = state.ports.at(port).tx_packets, .bytes = state.ports.at(port).tx_bytes};
  });
}

Json Playback::rank_waits(int64_t at_ps) {
  return ranks_.waits(at_ps);
}
Json Playback::rank_spans(int64_t at_ps) {
  return ranks_.spans(at_ps);
}

// At the end what the run's results have, which is later than the last sample.
Json Playback::flow_paths(const std::string& port, const std::string& node, int64_t at_ps, int64_t most) {
  const bool is_end = at_ps >= end_ps_ || at_ps >= states_.at(INT64_MAX).at_ps;
  const int64_t instant = is_end ? end_ps_ : states_.at(at_ps).at_ps;
  return recorded_flow_paths(recording_, {port, node, instant, most, is_end});
}

Json Playback::samples(int64_t most) {
  const int64_t each = std::max<int64_t>(1, (states_.samples() + most - 1) / std::max<int64_t>(1, most));
  Json instants = Json::array();
  Statement query{recording_, "SELECT t_ps FROM samples WHERE sample % ?1 = 0 OR sample = ?2 ORDER BY sample"};
  query.add(each).add(states_.samples());
  while (query.next()) instants.push_back(query.number(0));
  return {{"each", each}, {"instants_ps", std::move(instants)}};
}

Json Playback::events(int64_t at_ps, int64_t most, const std::set<std::string>& without) {
  Json counts = Json::object();
  Statement count{recording_, "SELECT event, count(*) FROM events WHERE t_ps <= ?1 GROUP BY event ORDER BY event"};
  count.add(at_ps);
  while (count.next()) counts[count.text(0)] = count.number(1);
  Statement query{
      recording_,
      "SELECT t_ps, event, ports.name, priorities, priority_group, reason, packets, first_ps, last_ps, what "
      "FROM events LEFT JOIN ports USING(port_id) WHERE t_ps <= ?1 "
      "AND event NOT IN (SELECT value FROM json_each(?2)) ORDER BY event_id DESC LIMIT ?3"};
  query.add(at_ps).add(Json(without).dump()).add(most);
  std::vector<Json> last;
  while (query.next()) {
    Json row{{"t_ps", query.number(0)}, {"event", query.text(1)}};
    if (!query.is_null(2)) row["port"] = query.text(2);
    if (!query.is_null(3)) row["priorities"] = priorities_of(query.number(3));
    if (!query.is_null(4)) row["group"] = query.number(4);
    if (!query.is_null(5)) row["reason"] = query.text(5);
    if (!query.is_null(6)) row["packets"] = query.number(6);
    if (!query.is_null(7)) row["first_ps"] = query.number(7);
    if (!query.is_null(8)) row["last_ps"] = query.number(8);
    if (!query.is_null(9)) row["what"] = query.text(9);
    last.push_back(std::move(row));
  }
  std::ranges::reverse(last);
  return {{"counts", std::move(counts)}, {"events", std::move(last)}};
}

Json Playback::section(const std::string& key) {
  Statement query{recording_, "SELECT json FROM report WHERE section = ?1"};
  if (!query.add(key).next()) return nullptr;
  return Json::parse(query.text(0), nullptr, false);
}

Json Playback::report() {
  Json out = Json::object();
  Statement query{recording_, "SELECT section, json FROM report"};
  while (query.next()) out[query.text(0)] = Json::parse(query.text(1), nullptr, false);
  return out;
}

}  // namespace softspine::analysis
