// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/hash_groups.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/explain/group_ports.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::analysis {

using control::Json;
using dataplane::EcmpGroup;
using dataplane::EcmpGroupMode;
using dataplane::ForwardingState;

namespace {

const char* mode_word(EcmpGroupMode mode, bool is_drawn) {
  switch (mode) {
    case EcmpGroupMode::kHash: return is_drawn ? "random" : "hash";
    case EcmpGroupMode::kInPort: return "in_port";
    case EcmpGroupMode::kFlowlet: return "flowlet";
    case EcmpGroupMode::kSpray: return "spray";
  }
  return "?";
}

// Enough to read, and few enough to look the same everywhere.
double in_six_places(double value) {
  return std::round(value * 1e6) / 1e6;
}

class GroupsOfSwitch {
 public:
  GroupsOfSwitch(const control::Fabric& fabric, uint32_t node, const ForwardingState& state,
                 const control::RouteTable& routes)
      : fabric_(fabric), node_(node), state_(state), routes_(routes) {}

  std::vector<HashGroup> all() const {
    std::vector<HashGroup> out;
    for (uint32_t i = 0; i < state_.groups.size(); ++i) add(ecmp_group(i), out);
    if (state_.lags == nullptr) return out;
    for (const auto& lag : state_.lags->lags) add(lag_group(*state_.lags, lag), out);
    return out;
  }

 private:
  // A member is the port that stands for it in the routes.
  using Buckets = std::map<uint16_t, uint32_t>;

  static void add(HashGroup group, std::vector<HashGroup>& out) {
    if (group.members.size() >= 2) out.push_back(std::move(group));
  }

  HashGroup ecmp_group(uint32_t number) const {
    const EcmpGroup& group = state_.groups[number];
    Buckets buckets;
    for (uint32_t b = 0; b < group.count; ++b) {
      const uint32_t next_hop = state_.members[group.first + b];
      if (next_hop != dataplane::kDeadMember) ++buckets[way_at(state_, next_hop)];
    }
    HashGroup out{.name = "ecmp " + std::to_string(number), .mode = mode_word(group.mode, state_.hash.is_drawn())};
    if (buckets.size() < 2) return out;
    out.destinations = destinations_of(buckets);
    for (const auto& [port, count] : buckets) {
      const control::LinkEnd end{node_, port};
      const std::vector<uint16_t> ports = fabric_.ports_of_way(end);
      out.members.push_back({fabric_.name_of_way(end), peer_of(end), {ports.begin(), ports.end()}, count});
      std::ranges::sort(out.members.back().ports);
    }
    std::ranges::sort(out.members, {}, [](const HashGroupMember& it) { return it.ports.front(); });
    return out;
  }

  HashGroup lag_group(const dataplane::LagTable& table, const dataplane::LagTable::Lag& lag) const {
    Buckets buckets;
    for (uint32_t i = 0; i < lag.count; ++i) ++buckets[table.members[lag.first + i]];
    HashGroup out{.name = fabric_.lag_of({node_, lag.way})->name_at(node_),
                  .mode = mode_word(EcmpGroupMode::kHash, table.hash.is_drawn()),
                  .is_lag = true};
    for (const auto& [port, count] : buckets) {
      const control::LinkEnd end{node_, port};
      out.members.push_back({fabric_.port(end).name, peer_of(end), {port}, count});
    }
    return out;
  }

  // Subnets, hosts and switches that the routes lead to by just these ports.
  std::string destinations_of(const Buckets& buckets) const {
    std::vector<uint16_t> ports;
    for (const auto& [port, count] : buckets) ports.push_back(port);
    const auto found = std::ranges::find(routes_.groups, ports);
    if (found == routes_.groups.end()) return "slice";
    const auto route = static_cast<uint32_t>(found - routes_.groups.begin());
    std::string first;
    size_t count = 0;
    const auto add = [&](const auto& name) {
      if (count++ == 0) first = name();
    };
    for (uint32_t s = 0; s < routes_.by_subnet.size(); ++s) {
      if (routes_.by_subnet[s] == route) add([&] { return to_string(fabric_.subnets[s].v4); });
    }
    for (const auto& [host, of] : routes_.by_host) {
      if (of == route) add([&] { return fabric_.nodes[host].name; });
    }
    for (uint32_t n = 0; n < routes_.by_switch.size(); ++n) {
      if (routes_.by_switch[n] == route) add([&] { return fabric_.nodes[n].name; });
    }
    return count < 2 ? first : first + " and " + std::to_string(count - 1) + " more";
  }

  const std::string& peer_of(control::LinkEnd end) const { return fabric_.nodes[fabric_.peer_of(end).node].name; }

  const control::Fabric& fabric_;
  uint32_t node_;
  const ForwardingState& state_;
  const control::RouteTable& routes_;
};

// Their first port tells members of groups of one kind apart.
bool has_member(const HashGroup& group, const HashGroupMember& member) {
  return std::ranges::any_of(group.members, [&](const auto& it) { return it.ports.front() == member.ports.front(); });
}

void add_group_rows(std::span<const HashGroup> all, const HashGroup& group,
                    const std::function<PortSent(uint32_t)>& sent_by, Json& out) {
  std::vector<PortSent> sent;
  uint64_t buckets = 0;
  uint64_t bytes = 0;
  for (const HashGroupMember& member : group.members) {
    PortSent& sum = sent.emplace_back();
    for (const uint32_t port : member.ports) {
      const PortSent each = sent_by(port);
      sum = {sum.packets + each.packets, sum.bytes + each.bytes};
    }
    buckets += member.buckets;
    bytes += sum.bytes;
  }
  for (size_t i = 0; i < group.members.size(); ++i) {
    const HashGroupMember& member = group.members[i];
    const double expected = static_cast<double>(member.buckets) / static_cast<double>(buckets);
    const double share = bytes == 0 ? 0 : static_cast<double>(sent[i].bytes) / static_cast<double>(bytes);
    const auto others = std::ranges::count_if(
        all, [&](const HashGroup& it) { return &it != &group && it.is_lag == group.is_lag && has_member(it, member); });
    out.push_back({{"group", group.name},
                   {"mode", group.mode},
                   {"destinations", group.destinations},
                   {"member", member.name},
                   {"to", member.to},
                   {"expected", in_six_places(expected)},
                   {"share", in_six_places(share)},
                   {"over_expected", in_six_places(share / expected)},
                   {"tx_packets", sent[i].packets},
                   {"tx_bytes", sent[i].bytes},
                   {"also_in", others}});
  }
}

}  // namespace

std::vector<HashGroup> hash_groups_of(const control::Fabric& fabric, uint32_t node, const ForwardingState& state,
                                      const control::RouteTable& routes) {
  return GroupsOfSwitch{fabric, node, state, routes}.all();
}

Json hash_group_rows(std::span<const HashGroup> groups, const std::function<PortSent(uint32_t)>& sent_by) {
  Json out = Json::array();
  for (const HashGroup& group : groups) add_group_rows(groups, group, sent_by, out);
  return out;
}

}  // namespace softspine::analysis
