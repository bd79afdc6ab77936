// SPDX-License-Identifier: Apache-2.0
#include "control/report/port_pressure.hpp"

#include <algorithm>

#include "control/report/snapshot_ports.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/totals.hpp"

namespace softspine::control {

namespace {

constexpr uint64_t kPaused = 1;
constexpr uint64_t kStopping = 2;
constexpr size_t kLaneFields = 12;
constexpr size_t kPortFields = 7;

uint64_t ps_of(dataplane::Duration time) {
  return static_cast<uint64_t>(std::max<int64_t>(time.count_ps(), 0));
}

PortPressure of_transmitter(const dataplane::LinkCounters& link, const LinkPauseSnapshot& pause, bool up) {
  return {.up = up, .tx_bytes = wire_bytes(link), .tx_packets = link.packets, .paused_ps = ps_of(pause.time)};
}

void add_pauses(const HostPauses& pauses, PortPressure& out) {
  for (size_t n = 0; n < out.lanes.size(); ++n) out.lanes[n].paused_ps = ps_of(pauses[n].paused);
}

LanePressure lane_of(const PortSnapshot& port, size_t n) {
  const dataplane::QueueCounters& queue = port.counters.queues[n];
  LanePressure out{.paused_ps = ps_of(port.pauses[n].time),
                   .paused = port.pauses[n].paused,
                   .stopping = port.pauses[n].stopping,
                   .packets = queue.packets,
                   .refused = queue.dropped_packets,
                   .marked = queue.ecn_marked_packets,
                   .queue_bytes = queue.current_bytes};
  if (port.buffers) out.group_refused = port.buffers->groups[n].counters.dropped_packets;
  return out;
}

PortPressure pressure_of(const PortSnapshot& port) {
  PortPressure out = of_transmitter(port.link, port.link_pause, port.up);
  out.rx_packets = port.counters.rx_packets;
  out.lost = dropped_packets(port.counters.drops);
  for (size_t n = 0; n < out.lanes.size(); ++n) out.lanes[n] = lane_of(port, n);
  return out;
}
PortPressure pressure_of(const HostPortSnapshot& port) {
  PortPressure out = of_transmitter(port.link, port.link_pause, port.up);
  out.rx_packets = port.rx_packets;
  add_pauses(port.pause, out);
  return out;
}
PortPressure pressure_of(const EdgeSnapshot& edge) {
  PortPressure out = of_transmitter(edge.link, edge.link_pause, edge.up);
  out.rx_packets = edge.counters.arrived_packets;
  out.lost = dropped_packets(edge.counters.in_drops) + dropped_packets(edge.counters.out_drops);
  add_pauses(edge.pause, out);
  return out;
}

void add_fill(const PortFill& fill, PortPressure& out) {
  for (size_t n = 0; n < out.lanes.size(); ++n) {
    out.lanes[n].queue = fill.queues[n];
    out.lanes[n].group = fill.groups[n];
  }
}

Json lane_json(size_t number, const LanePressure& of) {
  const uint64_t flags = (of.paused ? kPaused : 0) | (of.stopping ? kStopping : 0);
  return {number,         of.paused_ps,         flags,
          of.packets,     of.refused,           of.marked,
          of.queue_bytes, of.queue.bytes,       of.queue.limit_bytes,
          of.group.bytes, of.group.limit_bytes, of.group_refused};
}

Json port_json(size_t number, const PortPressure& of) {
  Json lanes = Json::array();
  for (size_t n = 0; n < of.lanes.size(); ++n) {
    if (of.lanes[n] != LanePressure{}) lanes.push_back(lane_json(n, of.lanes[n]));
  }
  return {number, of.tx_bytes, of.tx_packets, of.rx_packets, of.lost, of.paused_ps, std::move(lanes)};
}

bool did_something(PortPressure of) {
  of.up = true;
  return of != PortPressure{};
}

// Numbers of an answer: a field that is none is refused by what nlohmann throws.
uint64_t number_at(const Json& row, size_t field) {
  return row.at(field).get<uint64_t>();
}

LanePressure lane_from(const Json& row) {
  const uint64_t flags = number_at(row, 2);
  return {.paused_ps = number_at(row, 1),
          .paused = (flags & kPaused) != 0,
          .stopping = (flags & kStopping) != 0,
          .packets = number_at(row, 3),
          .refused = number_at(row, 4),
          .marked = number_at(row, 5),
          .queue_bytes = number_at(row, 6),
          .queue = {.bytes = number_at(row, 7), .limit_bytes = number_at(row, 8)},
          .group = {.bytes = number_at(row, 9), .limit_bytes = number_at(row, 10)},
          .group_refused = number_at(row, kLaneFields - 1)};
}

PortPressure port_from(const Json& row) {
  PortPressure out{.tx_bytes = number_at(row, 1),
                   .tx_packets = number_at(row, 2),
                   .rx_packets = number_at(row, 3),
                   .lost = number_at(row, 4),
                   .paused_ps = number_at(row, 5)};
  for (const Json& lane : row.at(kPortFields - 1)) out.lanes.at(number_at(lane, 0)) = lane_from(lane);
  return out;
}

void read_ports(const Json& answer, FabricPressure& out) {
  out.at_ps = answer.at("at_ps").get<uint64_t>();
  for (const Json& row : answer.at("ports")) out.ports.at(number_at(row, 0)) = port_from(row);
  for (const Json& number : answer.at("down")) out.ports.at(number.get<uint64_t>()).up = false;
}

void read_map(const Json& map, PortMap& out) {
  out.testbed = map.at("testbed").get<std::string>();
  for (const Json& node : map.at("nodes")) {
    const std::string name = node.at(0).get<std::string>() + ":";
    for (const Json& port : node.at(2)) {
      out.ports.push_back({.name = name + port.at(0).get<std::string>(),
                           .peer = port.at(1).get<uint32_t>(),
                           .rate_bps = number_at(port, 2)});
    }
  }
  for (const MappedPort& port : out.ports) static_cast<void>(out.ports.at(port.peer));
}

// nlohmann and at() throw where an answer has another shape.
template <typename T, typename Read>
std::expected<T, std::string> read_as(T out, Read&& read) {
  try {
    read(out);
  } catch (const std::exception& error) {
    return std::unexpected(std::string{"the fabric's answer cannot be read: "} + error.what());
  }
  return out;
}

}  // namespace

FabricPressure pressure_of(const Fabric& fabric, const FabricSnapshot& snapshot, const PortFills& fills) {
  const PortNumbers numbers{fabric};
  FabricPressure out{.at_ps = static_cast<uint64_t>(snapshot.instant.count_ps()),
                     .ports = std::vector<PortPressure>(numbers.size())};
  std::vector<bool> is_there(numbers.size());  // in a snapshot that was kept to one node
  each_port(numbers, snapshot, [&](uint32_t number, const auto& port) {
    out.ports[number] = pressure_of(port);
    is_there[number] = true;
  });
  for (const HostSnapshot& host : snapshot.hosts) {
    const auto first = host.ports.empty() ? std::nullopt : numbers.find(host.name, host.ports.front().name);
    if (first) out.ports[*first].lost += dropped_packets(host.counters.dropped);
  }
  for (uint32_t node = 0; node < fills.size(); ++node) {
    for (uint16_t port = 0; port < fills[node].size(); ++port) {
      const uint32_t number = numbers.of({node, port});
      if (is_there[number]) add_fill(fills[node][port], out.ports[number]);
    }
  }
  return out;
}

Json pressure_json(const FabricPressure& pressure) {
  Json ports = Json::array();
  Json down = Json::array();
  for (size_t i = 0; i < pressure.ports.size(); ++i) {
    if (did_something(pressure.ports[i])) ports.push_back(port_json(i, pressure.ports[i]));
    if (!pressure.ports[i].up) down.push_back(i);
  }
  return {{"at_ps", pressure.at_ps}, {"ports", std::move(ports)}, {"down", std::move(down)}};
}

std::expected<PortMap, std::string> port_map_from(const Json& map) {
  return read_as(PortMap{}, [&map](PortMap& out) { read_map(map, out); });
}

std::expected<FabricPressure, std::string> pressure_from(const Json& answer, const PortMap& map) {
  return read_as(FabricPressure{.ports = std::vector<PortPressure>(map.ports.size())},
                 [&answer](FabricPressure& out) { read_ports(answer, out); });
}

}  // namespace softspine::control
