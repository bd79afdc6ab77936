// SPDX-License-Identifier: Apache-2.0
#include "testbeds/outside/outside_spec.hpp"

#include <algorithm>

namespace softspine::testbeds {

namespace {

// Two ports at one switch, or back to back, cannot have LACP, and are balanced without it.
std::string bond_mode_of(const control::Fabric& fabric, uint32_t node) {
  if (bonds_by_lacp(fabric, node)) return "802.3ad";
  const bool has_backup = fabric.nodes[node].bond.mode == control::BondMode::kActiveBackup;
  return has_backup ? "active-backup" : "balance-xor";
}

bool joins_a_namespace(const control::Attachment& attachment) {
  const auto* const space = std::get_if<control::NamespaceHost>(&attachment);
  return space != nullptr && !space->join.empty();
}

std::vector<std::string> routes_from(const control::Fabric& fabric, uint32_t own) {
  std::vector<std::string> out;
  for (uint32_t i = 0; i < fabric.subnets.size(); ++i) {
    const control::Subnet& subnet = fabric.subnets[i];
    if (i == own || subnet.switches.empty()) continue;
    out.push_back(control::to_string(subnet.v4));
    out.push_back(control::to_string(subnet.v6));
  }
  return out;
}

std::vector<std::string> nics_of_server(const control::Fabric& fabric, const control::FabricNode& host) {
  std::vector<std::string> out;
  for (const control::FabricNode& each : fabric.nodes) {
    const bool is_one = each.kind == control::NodeKind::kHost && each.server == host.server;
    if (is_one && each.attachment.index() == host.attachment.index()) out.push_back(each.name);
  }
  return out;
}

}  // namespace

OutsideSpec outside_spec(const control::Fabric& fabric, uint32_t node) {
  const control::FabricNode& host = fabric.nodes[node];
  OutsideSpec spec;
  spec.name = host.name;
  spec.attachment = host.attachment;
  spec.nics = nics_of_server(fabric, host);
  spec.ports = static_cast<uint32_t>(host.ports.size());
  if (spec.ports > 1) spec.bond_mode = bond_mode_of(fabric, node);
  spec.mac = control::to_string(host.ports.front().mac);
  spec.mtu = fabric.links[host.ports.front().link].mtu;
  dataplane::Rate slowest = fabric.links[host.ports.front().link].rate;
  for (const control::FabricPort& port : host.ports) {
    spec.mtu = std::min(spec.mtu, fabric.links[port.link].mtu);
    slowest = std::min(slowest, fabric.links[port.link].rate);
  }
  spec.speed_mbps = static_cast<uint32_t>(slowest.count_bps() / 1'000'000);
  if (host.vlan.is_tagged) spec.vlan = host.vlan.id;
  const control::Subnet& subnet = fabric.subnets[host.subnet];
  spec.addresses = {control::to_string(host.ipv4) + "/" + std::to_string(subnet.v4.length),
                    control::to_string(host.ipv6) + "/" + std::to_string(subnet.v6.length)};
  if (!subnet.switches.empty()) {
    spec.gateways = {control::to_string(subnet.gateway4), control::to_string(subnet.gateway6)};
    if (joins_a_namespace(host.attachment)) spec.routes = routes_from(fabric, host.subnet);
  }
  return spec;
}

bool bonds_by_lacp(const control::Fabric& fabric, uint32_t node) {
  const control::FabricNode& host = fabric.nodes[node];
  if (host.ports.size() < 2 || !control::needs_wall_clock(host.attachment)) return false;
  if (host.bond.mode != control::BondMode::kLacp) return false;
  if (std::holds_alternative<control::VerbsHost>(host.attachment)) return false;  // its device speaks no LACP
  std::vector<uint32_t> peers;
  for (uint16_t port = 0; port < host.ports.size(); ++port) peers.push_back(fabric.peer_of({node, port}).node);
  std::ranges::sort(peers);
  return std::ranges::adjacent_find(peers) == peers.end() &&
         std::ranges::all_of(peers, [&](uint32_t n) { return fabric.nodes[n].kind == control::NodeKind::kSwitch; });
}

const std::string* command_in(const control::Attachment& attachment) {
  const auto command = [](const auto& host) -> const std::string* {
    if constexpr (requires { host.run; }) return &host.run;
    return nullptr;
  };
  return std::visit(command, attachment);
}

bool has_command(const OutsideSpec& spec) {
  const std::string* command = command_in(spec.attachment);
  return command != nullptr && !command->empty();
}

}  // namespace softspine::testbeds
