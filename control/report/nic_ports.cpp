// SPDX-License-Identifier: Apache-2.0
#include "control/report/nic_ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::control {

namespace {

uint64_t queue_max_bytes(const PortSnapshot& port) {
  uint64_t most = 0;
  for (const auto& queue : port.counters.queues) most = std::max(most, queue.watermark_bytes);
  return most;
}

}  // namespace

NicPorts::NicPorts(const FabricSnapshot& snapshot) {
  std::set<std::string> wanted;
  for (const HostSnapshot& host : snapshot.hosts) {
    if (host.ports.size() < 2) continue;
    for (const HostPortSnapshot& port : host.ports) wanted.insert(host.name + ":" + port.name);
  }
  if (wanted.empty()) return;
  for (LinkDirection& link : link_directions(snapshot)) {
    if (!wanted.contains(link.to)) continue;
    switch_ports_.emplace(link.from, nullptr);
    to_.emplace(link.to, std::move(link));
  }
  for (const SwitchSnapshot& node : snapshot.switches) {
    for (const PortSnapshot& port : node.ports) {
      const auto found = switch_ports_.find(node.name + ":" + port.name);
      if (found != switch_ports_.end()) found->second = &port;
    }
  }
}

Json NicPorts::of(const HostSnapshot& host) const {
  Json out = Json::object();
  if (host.ports.size() < 2) return out;
  for (const HostPortSnapshot& port : host.ports) {
    const auto link = to_.find(host.name + ":" + port.name);
    if (link == to_.end()) continue;
    Json each{{"to", link->second.from},
              {"up", port.up},
              {"sent_packets", port.link.packets},
              {"sent_bytes", port.link.bytes},
              {"received_packets", port.rx_packets},
              {"switch_tx_bytes", link->second.sent.bytes}};
    const PortSnapshot* const before = switch_ports_.at(link->second.from);
    add_key(each, "queue_max_bytes", before == nullptr ? 0 : queue_max_bytes(*before));
    add_key(out, port.name, std::move(each));
  }
  return out;
}

std::vector<ReportField> nic_port_fields() {
  return {{"hosts.*.ports.*.to", "text", "Of a host with two ports, one of them: the port at the other end."},
          {"hosts.*.ports.*.up", "true or false", "The port's link is up."},
          {"hosts.*.ports.*.sent_packets", "packets", "Frames that the host sent by this port."},
          {"hosts.*.ports.*.sent_bytes", "bytes", "Bytes of these frames, without FCS."},
          {"hosts.*.ports.*.received_packets", "packets", "Frames that arrived by this port."},
          {"hosts.*.ports.*.switch_tx_bytes", "bytes", "Bytes of frames that the switch before it sent to this port."},
          {"hosts.*.ports.*.queue_max_bytes", "bytes",
           "Most that ever waited for this port in one queue of the switch before it."}};
}

Json nic_ports_json(const FabricSnapshot& snapshot) {
  const NicPorts ports(snapshot);
  Json out = Json::object();
  for (const HostSnapshot& host : snapshot.hosts) {
    if (Json its = ports.of(host); !its.empty()) add_key(out, host.name, std::move(its));
  }
  return out;
}

std::string nic_ports_table(const FabricSnapshot& snapshot) {
  TextTable table{
      {"<NIC", "<PORT", "<TO", "<STATE", "SENT(bytes)", "FROM_SWITCH(bytes)", "SHARE(%)", "QUEUE_MAX(bytes)"}};
  const Json nics = nic_ports_json(snapshot);
  for (const auto& [host, ports] : nics.items()) {
    uint64_t all = 0;
    for (const Json& port : ports) all += port["switch_tx_bytes"].get<uint64_t>();
    for (const auto& [name, port] : ports.items()) {
      const auto bytes = port["switch_tx_bytes"].get<uint64_t>();
      const double share = all == 0 ? 0 : 100 * static_cast<double>(bytes) / static_cast<double>(all);
      table.add({host, name, port["to"].get<std::string>(), port["up"].get<bool>() ? "U" : "D",
                 grouped(port["sent_bytes"].get<uint64_t>()), grouped(bytes), fmt::format("{:.2f}", share),
                 grouped(port["queue_max_bytes"].get<uint64_t>())});
    }
  }
  return table.text();
}

}  // namespace softspine::control
