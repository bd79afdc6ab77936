// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/outside_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::tools {

using control::Json;

namespace {

constexpr size_t kAddressesShown = 16;

// Guests and namespaces have their addresses from us.
bool configures_itself(const control::FabricNode& node) {
  return std::holds_alternative<control::EdgeHost>(node.attachment) && !is_replayed(node.attachment);
}

uint32_t least_mtu_of(const control::Fabric& fabric, const control::FabricNode& node) {
  uint32_t out = UINT32_MAX;
  for (const control::FabricPort& port : node.ports) out = std::min(out, fabric.links[port.link].mtu);
  return out;
}

}  // namespace

Json outside_addresses_json(const control::Fabric& fabric, const std::vector<uint32_t>& hosts) {
  Json out = Json::object();
  for (const uint32_t host : hosts) {
    const control::FabricNode& node = fabric.nodes[host];
    const control::Subnet& subnet = fabric.subnets[node.subnet];
    const bool has_gateway = !subnet.switches.empty();
    Json row{{"ipv4", fmt::format("{}/{}", to_string(node.ipv4), subnet.v4.length)},
             {"ipv4_gateway", has_gateway ? Json(to_string(subnet.gateway4)) : Json()},
             {"ipv6", fmt::format("{}/{}", to_string(node.ipv6), subnet.v6.length)},
             {"ipv6_gateway", has_gateway ? Json(to_string(subnet.gateway6)) : Json()},
             {"mac", to_string(node.ports.front().mac)},
             {"mtu", least_mtu_of(fabric, node)},
             {"configures_itself", configures_itself(node)}};
    control::add_key(out, node.name, std::move(row));
  }
  return out;
}

std::string outside_addresses_text(const control::Fabric& fabric, const std::vector<uint32_t>& hosts) {
  std::vector<uint32_t> shown = hosts;
  std::erase_if(shown, [&](uint32_t host) { return !configures_itself(fabric.nodes[host]); });
  if (shown.empty()) return "";
  const Json rows = outside_addresses_json(fabric, shown);
  control::TextTable table({"<HOST", "<ADDRESS", "<GATEWAY", "<IPV6", "<GATEWAY", "<MAC", "MTU"});
  const auto text = [](const Json& value) { return value.is_null() ? std::string("-") : value.get<std::string>(); };
  size_t count = 0;
  for (const auto& [host, row] : rows.items()) {
    if (++count > kAddressesShown) break;
    table.add({host, text(row["ipv4"]), text(row["ipv4_gateway"]), text(row["ipv6"]), text(row["ipv6_gateway"]),
               text(row["mac"]), std::to_string(row["mtu"].get<uint32_t>())});
  }
  return "addresses that hosts outside have to take:\n" + table.text() +
         (rows.size() > kAddressesShown ? fmt::format("and {} more: --json has all\n", rows.size() - kAddressesShown)
                                        : "");
}

}  // namespace softspine::tools
