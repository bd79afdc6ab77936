// SPDX-License-Identifier: Apache-2.0
#include "control/topology/attach.hpp"

#include <algorithm>
#include <unordered_map>

namespace softspine::control {
namespace {

Edge edge_of(const EdgeRow& row) {
  if (row.af_packet) return AfPacketEdge{row.af_packet->interface};
  if (row.vhost_user) return VhostUserEdge{row.vhost_user->socket};
  if (row.pcap) {
    return PcapEdge{row.pcap->in, row.pcap->out, row.pcap->zero.value_or(PcapZero::kFirstFrame),
                    row.pcap->offset.value_or(dataplane::Duration{})};
  }
  if (row.dpdk) return DpdkEdge{*row.dpdk};
  return TapEdge{row.tap ? row.tap->name : ""};
}

// A number is that of a process in it.
std::string file_of_namespace(const std::string& join) {
  return join.empty() || join.starts_with('/') ? join : "/proc/" + join + "/ns/net";
}

Attachment attachment_of(const NodeRow& row) {
  if (row.guest) {
    const GuestRow& guest = *row.guest;
    return Guest{.kind = guest.kind,
                 .run = guest.run,
                 .memory_bytes = guest.memory.count,
                 .cpus = guest.cpus,
                 .timeout = guest.timeout,
                 .root_kind = GuestRoot::kOurs,  // its files: load/guest_parts.hpp
                 .root = "",
                 .files = {},
                 .kernel = ""};
  }
  if (row.name_space) {
    return NamespaceHost{row.name_space->run, row.name_space->timeout, file_of_namespace(row.name_space->join),
                         row.name_space->interface.value_or(NamespaceHost{}.interface)};
  }
  if (row.verbs) return VerbsHost{row.verbs->run, row.verbs->timeout};
  if (!row.edge) return BuiltinHost{};
  EdgeHost host;
  for (const EdgeRow& edge : row.edge->items) host.edges.push_back(edge_of(edge));
  return host;
}

HostNic nic_of(const NicRow& row) {
  HostNic nic{.pfc_enable = {}, .parameters = row.parameters};
  if (row.pfc_enable) nic.pfc_enable = row.pfc_enable->mask;
  if (row.parameters.relay_pfc) nic.pfc_enable = 0;
  if (!is_given(row.where, "cnp_interval"))
    nic.parameters.cnp_interval = dataplane::cnp_interval_of(row.parameters.congestion_control);
  return nic;
}

// A resource that only one host can hold, and the key that names it; empty: none. Interfaces share one name space,
// files another; a DPDK device is what stands before its arguments.
struct Held {
  std::string what;
  std::string space;
  const char* kind = "";
  const char* key = "";
};

std::string normal(const std::string& path) {
  return std::filesystem::path(path).lexically_normal();
}

Held held_by(const EdgeRow& row) {
  if (row.tap) return {row.tap->name, "interface", "tap", "name"};
  if (row.af_packet) return {row.af_packet->interface, "interface", "af_packet", "interface"};
  if (row.vhost_user) return {normal(row.vhost_user->socket), "file", "vhost_user", "socket"};
  if (row.pcap) return {normal(row.pcap->out), "file", "pcap", "out"};
  if (row.dpdk) return {row.dpdk->substr(0, row.dpdk->find(',')), "device", "dpdk", ""};
  return {};
}

class EdgeCheck {
 public:
  explicit EdgeCheck(Reader& reader) : reader_(reader) {}

  void check(const NodeRow& row, const FabricNode& node) {
    const std::vector<EdgeRow>& edges = row.edge->items;
    if (edges.size() != node.ports.size()) {
      reader_.fail(row.where.child("edge"), "a host has one edge for each of its links, and " + node.name + " has " +
                                                counted(edges.size(), "edge") + " and " +
                                                counted(node.ports.size(), "link"));
    }
    for (const EdgeRow& edge : edges) take(edge, node.name);
  }

 private:
  static std::string counted(size_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  }

  void take(const EdgeRow& edge, const std::string& host) {
    const Held held = held_by(edge);
    if (held.what.empty()) return;
    const auto [other, is_new] = holder_.emplace(held.space + ' ' + held.what, host);
    if (is_new) return;
    reader_.fail(edge.where.child(held.kind).child(held.key),
                 shown(held.what) + " is used by " + other->second + " already");
  }

  Reader& reader_;
  std::unordered_map<std::string, std::string> holder_;
};

}  // namespace

void attach_hosts(Reader& reader, Expanded& out) {
  EdgeCheck edges(reader);
  for (size_t i = 0; i < out.fabric.nodes.size(); ++i) {
    FabricNode& node = out.fabric.nodes[i];
    if (out.rows[i] == nullptr || node.kind != NodeKind::kHost) continue;
    const NodeRow& row = *out.rows[i];
    node.attachment = attachment_of(row);
    node.place = place_of(row.where);
    node.builtin = row.builtin;
    dataplane::for_each_key(kBuiltinHostKeys, [&](std::string_view key) {
      if (is_given(row.where, key) && !is_builtin(node.attachment))
        reader.fail(row.where.child(key), "is for built-in hosts, and something else stands behind " + node.name);
    });
    if (row.nic && is_builtin(node.attachment)) {
      reader.fail(row.where.child("nic"), node.name + " is built in, and its own NIC: its workload says what it does");
    } else if (row.nic) {
      node.nic = nic_of(*row.nic);
      if (row.nic->parameters.relay_pfc && !row.edge) {
        reader.fail(row.nic->where.child("relay_pfc"),
                    "needs an 'edge' with an adapter behind it: a kernel obeys no pauses");
      }
    }
    if (row.edge) edges.check(row, node);
    if (row.name_space && !row.name_space->join.empty() && node.ports.size() > 1) {
      reader.fail(row.name_space->where.child("join"), "a namespace that exists already joins by one link, and " +
                                                           node.name + " has " + std::to_string(node.ports.size()));
    }
  }
}

}  // namespace softspine::control
