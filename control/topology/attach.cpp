// SPDX-License-Identifier: Apache-2.0
#include "control/topology/attach.hpp"

#include <unordered_map>

namespace softspine::control {
namespace {

Attachment attachment_of(const NodeRow& row) {
  if (row.guest) {
    return Guest{row.guest->kind, row.guest->run, row.guest->memory.count, row.guest->cpus, row.guest->timeout};
  }
  if (row.name_space) return NamespaceHost{row.name_space->run, row.name_space->timeout};
  if (!row.edge) return BuiltinHost{};
  const EdgeRow& edge = *row.edge;
  if (edge.tap) return TapEdge{edge.tap->name};
  if (edge.af_packet) return AfPacketEdge{edge.af_packet->interface};
  if (edge.vhost_user) return VhostUserEdge{edge.vhost_user->socket};
  if (edge.pcap) return PcapEdge{edge.pcap->in, edge.pcap->out};
  if (edge.dpdk) return DpdkEdge{*edge.dpdk};
  return BuiltinHost{};
}

HostNic nic_of(const NicRow& row) {
  HostNic nic;
  if (row.pfc_enable) nic.pfc_enable = row.pfc_enable->mask;
  nic.relay_pfc = row.relay_pfc;
  if (row.relay_pfc) nic.pfc_enable = 0;
  nic.rate = row.rate.value_or(nic.rate);
  if (row.congestion_control) nic.congestion_control = *row.congestion_control;
  nic.cnp_dscp = row.cnp_dscp.value_or(nic.cnp_dscp);
  nic.cnp_interval = row.cnp_interval.value_or(dataplane::cnp_interval_of(nic.congestion_control));
  nic.dscp = row.dscp;
  nic.source_port = row.source_port.value_or(nic.source_port);
  return nic;
}

// What only one host can hold, and the key that names it; empty: nothing. Interfaces share one name space, files
// another; a DPDK device is what stands before its arguments.
struct Held {
  std::string what;
  std::string space;
  const char* kind = "";
  const char* key = "";
};

std::string normal(const std::string& path) {
  return std::filesystem::path(path).lexically_normal();
}

Held held_by(const Attachment& attachment) {
  if (const auto* tap = std::get_if<TapEdge>(&attachment)) return {tap->name, "interface", "tap", "name"};
  if (const auto* packet = std::get_if<AfPacketEdge>(&attachment))
    return {packet->interface, "interface", "af_packet", "interface"};
  if (const auto* vhost = std::get_if<VhostUserEdge>(&attachment))
    return {normal(vhost->socket), "file", "vhost_user", "socket"};
  if (const auto* pcap = std::get_if<PcapEdge>(&attachment)) return {normal(pcap->out), "file", "pcap", "out"};
  if (const auto* dpdk = std::get_if<DpdkEdge>(&attachment))
    return {dpdk->device.substr(0, dpdk->device.find(',')), "device", "dpdk", ""};
  return {};
}

}  // namespace

void attach_hosts(Reader& reader, Expanded& out) {
  std::unordered_map<std::string, std::string> holder;
  for (size_t i = 0; i < out.fabric.nodes.size(); ++i) {
    FabricNode& node = out.fabric.nodes[i];
    if (out.rows[i] == nullptr || node.kind != NodeKind::kHost) continue;
    const NodeRow& row = *out.rows[i];
    node.attachment = attachment_of(row);
    node.place = place_of(row.where);
    if (row.nic && is_builtin(node.attachment)) {
      reader.wrong(row.where.child("nic"), node.name + " is built in, and its own NIC: its workload says what it does");
    } else if (row.nic) {
      node.nic = nic_of(*row.nic);
      if (row.nic->relay_pfc && !row.edge) {
        reader.wrong(row.nic->where.child("relay_pfc"),
                     "needs an 'edge' with an adapter behind it: a kernel obeys no pauses");
      }
    }
    if (row.edge && node.ports.size() > 1) {
      reader.wrong(row.where.child("edge"),
                   "an edge has one port, and " + node.name + " has " + std::to_string(node.ports.size()) + " links");
    }
    const Held held = held_by(node.attachment);
    if (held.what.empty()) continue;
    const auto [other, is_new] = holder.emplace(held.space + ' ' + held.what, node.name);
    if (is_new) continue;
    reader.wrong(row.where.child("edge").child(held.kind).child(held.key),
                 shown(held.what) + " is used by " + other->second + " already");
  }
}

}  // namespace softspine::control
