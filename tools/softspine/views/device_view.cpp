// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/views/device_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "control/telemetry/text_table.hpp"
#include "testbeds/run/devices.hpp"

namespace softspine::tools {

using namespace control;

namespace {

Json offloads_json(const dataplane::DeviceOffloads& offloads) {
  return {{"used", offloads.used}, {"offered", offloads.offered}};
}

// Zeros are left out: drivers have hundreds of names.
Json counters_json_of(const EdgeSnapshot& edge) {
  Json out = Json::object();
  for (const auto& [name, value] : edge.statistics) {
    if (value != 0) out[name] = value;
  }
  return out;
}

Json device_json(const testbeds::DeviceHere& device, const EdgeSnapshot& edge) {
  const dataplane::DeviceFacts& facts = *device.facts;
  return {{"node", edge.name},
          {"port", edge.port},
          {"device", facts.name},
          {"arguments", facts.arguments},
          {"driver", facts.driver},
          {"bus", facts.bus},
          {"firmware", facts.firmware.empty() ? Json() : Json(facts.firmware)},
          {"link",
           {{"up", device.link.up},
            {"speed_mbps", device.link.speed_mbps == 0 ? Json() : Json(device.link.speed_mbps)},
            {"full_duplex", device.link.full_duplex},
            {"autonegotiated", device.link.autonegotiated}}},
          {"mtu_bytes", device.mtu},
          {"largest_frame_bytes", device.largest_frame},
          {"numa_node", facts.numa_node < 0 ? Json() : Json(facts.numa_node)},
          {"rx_descriptors", facts.rx_descriptors},
          {"tx_descriptors", facts.tx_descriptors},
          {"rx_offloads", offloads_json(facts.rx)},
          {"tx_offloads", offloads_json(facts.tx)},
          {"counters", counters_json_of(edge)}};
}

std::string text_or_dash(const Json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string link_text(const Json& link) {
  std::string state = link["up"].get<bool>() ? "up" : "down";
  if (link["speed_mbps"].is_null()) return state;
  return fmt::format("{}, {} Mb/s{}", state, link["speed_mbps"].get<uint32_t>(),
                     link["full_duplex"].get<bool>() ? "" : ", half duplex");
}

std::string words_or_none(const Json& names) {
  const auto all = names.get<std::vector<std::string>>();
  return all.empty() ? "none" : fmt::format("{}", fmt::join(all, ", "));
}

std::string offloads_text(const Json& offloads) {
  return fmt::format("{} (offered: {})", words_or_none(offloads["used"]), words_or_none(offloads["offered"]));
}

}  // namespace

Json devices_json(const Shown& shown) {
  const Fabric& fabric = shown.testbed.fabric;
  Json out = Json::array();
  for (const testbeds::DeviceHere& device : testbeds::devices_of(*shown.fabric.assembly().nodes)) {
    const FabricNode& node = fabric.nodes[device.end.node];
    const std::string& port = node.ports[device.end.port].name;
    const auto edge = std::ranges::find_if(
        shown.snapshot.edges, [&](const EdgeSnapshot& it) { return it.name == node.name && it.port == port; });
    if (edge != shown.snapshot.edges.end()) out.push_back(device_json(device, *edge));  // else of another --node
  }
  return out;
}

std::string devices_text(const Shown& shown) {
  TextTable devices{{"<NODE", "<PORT", "<DEVICE", "<DRIVER", "<LINK", "MTU(B)", "FRAME(B)", "NUMA", "RX_RING",
                     "TX_RING", "<FIRMWARE"}};
  TextTable counters{{"<NODE", "<PORT", "<COUNTER", "VALUE"}};
  std::string offloads;
  for (const Json& it : devices_json(shown)) {
    const std::string node = it["node"];
    const std::string port = it["port"];
    devices.add({node, port, it["device"], it["driver"], link_text(it["link"]), text_or_dash(it["mtu_bytes"]),
                 text_or_dash(it["largest_frame_bytes"]), text_or_dash(it["numa_node"]),
                 text_or_dash(it["rx_descriptors"]), text_or_dash(it["tx_descriptors"]), text_or_dash(it["firmware"])});
    offloads += fmt::format("{}:{} uses offloads: rx {}; tx {}\n", node, port, offloads_text(it["rx_offloads"]),
                            offloads_text(it["tx_offloads"]));
    for (const auto& [name, value] : it["counters"].items())
      counters.add({node, port, name, grouped(value.get<uint64_t>())});
  }
  return devices.text() + (offloads.empty() ? "" : "\n" + offloads + "\n" + counters.text());
}

}  // namespace softspine::tools
