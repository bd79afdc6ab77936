// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/views/switch_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <variant>

#include "analysis/explain/hash_groups.hpp"
#include "control/report/fabric_map.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::tools {

using control::Json;

namespace {

Json next_hops(const control::Fabric& fabric, uint32_t node, const std::vector<uint16_t>& ports) {
  std::string out;
  for (const uint16_t port : ports) {
    const control::LinkEnd end{node, port};
    out += (out.empty() ? "" : ", ") + fabric.nodes[fabric.peer_of(end).node].name + " via " + fabric.name_of_way(end);
  }
  return out;
}

std::string mac_text(uint64_t mac) {
  control::MacAddress address;
  for (size_t i = 0; i < 6; ++i) address.bytes[i] = static_cast<uint8_t>(mac >> (40 - 8 * i));
  return to_string(address);
}
std::string mac_text(const dataplane::MacAddress& mac) {
  control::MacAddress address;
  address.bytes = mac;
  return to_string(address);
}

bool is_ipv4(const dataplane::AddressBytes& address) {
  return std::all_of(address.begin() + 4, address.end(), [](uint8_t byte) { return byte == 0; });
}
std::string address_text(const dataplane::AddressBytes& bytes) {
  if (!is_ipv4(bytes)) return to_string(control::Ipv6Address{bytes});
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | bytes[i];
  return to_string(control::Ipv4Address{value});
}

// As packets to the prefix's first address find it.
const char* state_of(const dataplane::SwitchTables& tables, const control::Override& it) {
  const dataplane::ForwardingState& state = *tables.state;
  uint32_t found = 0;
  if (const auto* v4 = std::get_if<control::Ipv4Prefix>(&it.to)) {
    std::array<uint8_t, 4> bytes{};
    for (size_t i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(v4->address.value >> (24 - 8 * i));
    found = state.ipv4.lookup(bytes.data());
  } else {
    found = state.ipv6.lookup(std::get<control::Ipv6Prefix>(it.to).address.bytes.data());
  }
  const dataplane::RouteValue value{found};
  if (value.kind() != dataplane::RouteKind::kOverride) return "withdrawn";
  const auto* entry = state.overrides.find(value.index(), it.in_port);
  if (entry == nullptr || entry->is_withdrawn()) return "withdrawn";
  if (entry->out_port != it.out_port) return "another goes before it";
  return state.is_open(*entry, tables.down) ? "in use" : "link down";
}

Json routes_json(const ShownSwitch& shown) {
  const control::Fabric& fabric = shown.fabric;
  const control::RouteTable& routes = shown.routes;
  Json out = Json::array();
  const auto add = [&](const std::string& destination, const std::string& what, uint32_t route) {
    Json hops = "unreachable";
    if (route == control::RouteTable::kConnected) {
      hops = "connected";
    } else if (route != control::kNone) {
      hops = next_hops(fabric, shown.node, routes.groups[route]);
    }
    out.push_back({{"destination", destination}, {"what", what}, {"next_hops", std::move(hops)}});
  };
  for (uint32_t s = 0; s < routes.by_subnet.size(); ++s) {
    const control::Subnet& subnet = fabric.subnets[s];
    const std::string what = std::to_string(subnet.hosts.size()) + " hosts";
    add(to_string(subnet.v4), what, routes.by_subnet[s]);
    add(to_string(subnet.v6), what, routes.by_subnet[s]);
  }
  for (const auto& [host, route] : routes.by_host) {
    add(to_string(host_prefix(fabric.nodes[host].ipv4)), fabric.nodes[host].name, route);
    add(to_string(host_prefix(fabric.nodes[host].ipv6)), fabric.nodes[host].name, route);
  }
  for (uint32_t n = 0; n < routes.by_switch.size(); ++n) {
    if (fabric.nodes[n].kind != control::NodeKind::kSwitch || n == shown.node) continue;
    add(to_string(host_prefix(fabric.nodes[n].ipv4)), fabric.nodes[n].name, routes.by_switch[n]);
    add(to_string(host_prefix(fabric.nodes[n].ipv6)), fabric.nodes[n].name, routes.by_switch[n]);
  }
  return out;
}

Json overrides_json(const ShownSwitch& shown) {
  const control::FabricNode& node = shown.fabric.nodes[shown.node];
  Json out = Json::array();
  for (const control::Override& each : shown.overrides) {
    const std::string to = std::visit([](const auto& prefix) { return to_string(prefix); }, each.to);
    out.push_back({{"from", node.ports[each.in_port].name},
                   {"to", to},
                   {"next_hop", next_hops(shown.fabric, shown.node, {each.out_port})},
                   {"by", each.is_engineered ? "controller" : "file, line " + std::to_string(each.place.line)},
                   {"state", state_of(shown.from.tables(), each)}});
  }
  return out;
}

Json neighbours_json(const ShownSwitch& shown) {
  const control::FabricNode& node = shown.fabric.nodes[shown.node];
  std::map<std::string, Json> sorted;
  const auto add = [&](const dataplane::AddressBytes& address, const dataplane::Adjacency& adjacency) {
    const std::string text = address_text(address);
    sorted[text] = {{"address", text},
                    {"mac", mac_text(adjacency.destination)},
                    {"port", node.ports[adjacency.port].name},
                    {"vlan", adjacency.vlan}};
  };
  shown.from.tables().neighbours.for_each(add);
  Json out = Json::array();
  for (auto& [text, row] : sorted) out.push_back(std::move(row));
  return out;
}

Json macs_json(const ShownSwitch& shown) {
  const control::FabricNode& node = shown.fabric.nodes[shown.node];
  std::map<std::pair<uint16_t, uint64_t>, uint16_t> sorted;
  shown.from.tables().fdb.for_each(shown.now,
                                   [&](uint16_t vlan, uint64_t mac, uint16_t port) { sorted[{vlan, mac}] = port; });
  Json out = Json::array();
  for (const auto& [key, port] : sorted) {
    out.push_back({{"vlan", key.first}, {"mac", mac_text(key.second)}, {"port", node.ports[port].name}});
  }
  return out;
}

// Queues that mark, and priority groups that pause: what they hold, and from where on they do.
Json thresholds_json(const ShownSwitch& shown) {
  const control::FabricNode& node = shown.fabric.nodes[shown.node];
  const dataplane::QosPlan& plan = shown.from.egress().plan();
  const dataplane::Mmu& mmu = shown.from.egress().mmu();
  const auto cell = static_cast<int64_t>(mmu.cell().bytes());
  Json out = Json::array();
  for (uint16_t p = 0; p < node.ports.size() && p < plan.ports.size(); ++p) {
    for (uint32_t q = 0; q < dataplane::kQueues; ++q) {
      const dataplane::WredLine& mark = plan.wred[plan.ports[p].queues[q].wred].mark;
      if (mark.off()) continue;
      const control::PortQueue queue{node.ports[p].name, q, shown.from.counters()[p].queues[q].current_bytes};
      out.push_back(control::queue_threshold(queue, mark.min_bytes, mark.max_bytes));
    }
    for (uint32_t g = 0; g < dataplane::kPriorities; ++g) {
      const dataplane::PriorityGroupUse& group = mmu.pg(p, g);
      if (!group.lossless || group.credited || group.pool == nullptr) continue;
      const auto bytes = static_cast<uint64_t>((group.shared + group.headroom) * cell);
      const auto xoff = static_cast<uint64_t>(group.limit.of(group.pool->to_give()) * cell);
      out.push_back(control::group_threshold({node.ports[p].name, g, bytes}, xoff));
    }
  }
  return out;
}

Json hash_groups_json(const ShownSwitch& shown) {
  const auto groups = analysis::hash_groups_of(shown.fabric, shown.node, *shown.from.tables().state, shown.routes);
  return analysis::hash_group_rows(groups, [&shown](uint32_t port) -> analysis::PortSent {
    const dataplane::PortCounters& sent = shown.from.counters()[port];
    return {.packets = sent.tx_packets, .bytes = sent.tx_bytes};
  });
}

const View kViews[] = {
    {"ip route", "of a switch (--node)", SwitchView{routes_json}},
    {"overrides", "of a switch: the file's and the controller's, and whether they are in use (--node)",
     SwitchView{overrides_json}},
    {"arp", "the neighbours that a switch knows (--node)", SwitchView{neighbours_json}},
    {"thresholds", "queues and priority groups of a switch, and where they mark and pause (--node)",
     SwitchView{thresholds_json}},
    {"hash groups",
     "ECMP groups and LAGs of a switch: what each member has sent, and what an even hash would give it (--node)",
     SwitchView{hash_groups_json}},
    {"mac", "the hosts that a switch has learned (--node)", SwitchView{macs_json}},
};

}  // namespace

std::span<const View> switch_views() {
  return kViews;
}

std::string as_table(const Json& rows) {
  if (rows.empty()) return "nothing\n";
  std::vector<std::string> head;
  for (const auto& [key, value] : rows.front().items()) head.push_back("<" + key);
  control::TextTable table{head};
  for (const Json& row : rows) {
    std::vector<std::string> line;
    for (const auto& [key, value] : row.items()) {
      line.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    }
    table.add(std::move(line));
  }
  return table.text();
}

}  // namespace softspine::tools
