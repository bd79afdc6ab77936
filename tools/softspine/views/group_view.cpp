// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/views/group_view.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/explain/group_ports.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::tools {

using control::Json;
using dataplane::EcmpGroup;
using dataplane::EcmpGroupMode;
using dataplane::ForwardingState;

namespace {

// A member is the port that stands for it in the routes: its own, or its LAG's first.
struct ShownGroup {
  std::string name;
  std::string mode;
  std::string destinations;
  std::map<uint16_t, uint32_t> buckets;  // by member
  bool is_lag = false;
};

const char* mode_word(EcmpGroupMode mode, bool is_drawn) {
  switch (mode) {
    case EcmpGroupMode::kHash: return is_drawn ? "random" : "hash";
    case EcmpGroupMode::kInPort: return "in_port";
    case EcmpGroupMode::kFlowlet: return "flowlet";
    case EcmpGroupMode::kSpray: return "spray";
  }
  return "?";
}

// Subnets, hosts and switches that the routes lead to by just these ports.
std::string destinations_of(const ShownSwitch& shown, const std::vector<uint16_t>& ports) {
  const control::Fabric& fabric = shown.fabric;
  const auto found = std::ranges::find(shown.routes.groups, ports);
  if (found == shown.routes.groups.end()) return "slice";
  const auto route = static_cast<uint32_t>(found - shown.routes.groups.begin());
  std::string first;
  size_t count = 0;
  const auto add = [&](const std::string& name) {
    if (count++ == 0) first = name;
  };
  for (uint32_t s = 0; s < shown.routes.by_subnet.size(); ++s) {
    if (shown.routes.by_subnet[s] == route) add(to_string(fabric.subnets[s].v4));
  }
  for (const auto& [host, of] : shown.routes.by_host) {
    if (of == route) add(fabric.nodes[host].name);
  }
  for (uint32_t n = 0; n < shown.routes.by_switch.size(); ++n) {
    if (shown.routes.by_switch[n] == route) add(fabric.nodes[n].name);
  }
  return count < 2 ? first : first + " and " + std::to_string(count - 1) + " more";
}

ShownGroup ecmp_group(const ShownSwitch& shown, const ForwardingState& state, uint32_t number) {
  const EcmpGroup& group = state.groups[number];
  ShownGroup out{.name = "ecmp " + std::to_string(number), .mode = mode_word(group.mode, state.hash.is_drawn())};
  for (uint32_t b = 0; b < group.count; ++b) {
    const uint32_t next_hop = state.members[group.first + b];
    if (next_hop != dataplane::kDeadMember) ++out.buckets[analysis::way_at(state, next_hop)];
  }
  std::vector<uint16_t> ports;
  for (const auto& [port, buckets] : out.buckets) ports.push_back(port);
  out.destinations = destinations_of(shown, ports);
  return out;
}

ShownGroup lag_group(const ShownSwitch& shown, const dataplane::LagTable& table, const dataplane::LagTable::Lag& lag) {
  ShownGroup out{.name = shown.fabric.lag_of({shown.node, lag.way})->name_at(shown.node),
                 .mode = mode_word(EcmpGroupMode::kHash, table.hash.is_drawn()),
                 .is_lag = true};
  for (uint32_t i = 0; i < lag.count; ++i) ++out.buckets[table.members[lag.first + i]];
  return out;
}

std::vector<ShownGroup> groups_of(const ShownSwitch& shown) {
  const ForwardingState& state = *shown.from.tables().state;
  std::vector<ShownGroup> out;
  for (uint32_t i = 0; i < state.groups.size(); ++i) out.push_back(ecmp_group(shown, state, i));
  if (state.lags != nullptr) {
    for (const auto& lag : state.lags->lags) out.push_back(lag_group(shown, *state.lags, lag));
  }
  std::erase_if(out, [](const ShownGroup& it) { return it.buckets.size() < 2; });
  return out;
}

struct MemberSent {
  uint64_t packets = 0;
  uint64_t bytes = 0;
};

MemberSent sent_by(const ShownSwitch& shown, const ShownGroup& group, uint16_t member) {
  MemberSent out;
  const auto add = [&](uint16_t port) {
    out.packets += shown.from.counters()[port].tx_packets;
    out.bytes += shown.from.counters()[port].tx_bytes;
  };
  if (group.is_lag) {
    add(member);
  } else {
    for (const uint16_t port : shown.fabric.ports_of_way({shown.node, member})) add(port);
  }
  return out;
}

// Six places: enough to read, and few enough to look the same everywhere.
double rounded(double value) {
  return std::round(value * 1e6) / 1e6;
}

void add_rows(const ShownSwitch& shown, const std::vector<ShownGroup>& all, const ShownGroup& group, Json& out) {
  uint64_t buckets = 0;
  uint64_t bytes = 0;
  for (const auto& [member, count] : group.buckets) {
    buckets += count;
    bytes += sent_by(shown, group, member).bytes;
  }
  for (const auto& [member, count] : group.buckets) {
    const MemberSent sent = sent_by(shown, group, member);
    const double expected = static_cast<double>(count) / static_cast<double>(buckets);
    const double share = bytes == 0 ? 0 : static_cast<double>(sent.bytes) / static_cast<double>(bytes);
    const auto others = std::ranges::count_if(all, [&, member = member](const ShownGroup& it) {
      return &it != &group && it.is_lag == group.is_lag && it.buckets.contains(member);
    });
    const control::LinkEnd end{shown.node, member};
    out.push_back({{"group", group.name},
                   {"mode", group.mode},
                   {"destinations", group.destinations},
                   {"member", group.is_lag ? shown.fabric.port(end).name : shown.fabric.name_of_way(end)},
                   {"to", shown.fabric.nodes[shown.fabric.peer_of(end).node].name},
                   {"expected", rounded(expected)},
                   {"share", rounded(share)},
                   {"over_expected", rounded(share / expected)},
                   {"tx_packets", sent.packets},
                   {"tx_bytes", sent.bytes},
                   {"also_in", others}});
  }
}

}  // namespace

Json hash_groups_json(const ShownSwitch& shown) {
  const std::vector<ShownGroup> all = groups_of(shown);
  Json out = Json::array();
  for (const ShownGroup& group : all) add_rows(shown, all, group, out);
  return out;
}

}  // namespace softspine::tools
