// SPDX-License-Identifier: Apache-2.0
#include "control/topology/collect.hpp"

#include "control/rows/row_formats.hpp"
#include "control/topology/generated.hpp"
#include "control/topology/imported.hpp"

namespace softspine::control {
namespace {

// Checks keys that only a switch has, and keys that only a host has.
void check_keys_fit(Reader& reader, const NodeRow& row, NodeKind kind, const std::string& name) {
  const auto refuse = [&](bool given, std::string_view key, std::string_view who) {
    if (given)
      reader.fail(row.where.child(key),
                  "is for " + std::string(who) + ", and " + name + " is a " + std::string(word_of(kind)));
  };
  if (kind == NodeKind::kSwitch) {
    refuse(row.address.has_value(), "address", "hosts");
    refuse(row.mac.has_value(), "mac", "hosts");
    refuse(row.server.has_value(), "server", "hosts");
    refuse(row.guest.has_value(), "guest", "hosts");
    refuse(row.name_space.has_value(), "namespace", "hosts");
    refuse(row.verbs.has_value(), "verbs", "hosts");
    refuse(row.edge.has_value(), "edge", "hosts");
    refuse(row.nic.has_value(), "nic", "hosts");
    refuse(row.bond.has_value(), "bond", "hosts");
    refuse(row.vlan.has_value(), "vlan", "hosts");
    dataplane::for_each_key(kBuiltinHostKeys,
                            [&](std::string_view key) { refuse(is_given(row.where, key), key, "hosts"); });
  } else {
    refuse(row.role.has_value(), "role", "switches");
    refuse(row.profile.has_value(), "profile", "switches");
    refuse(row.subnet.has_value(), "subnet", "switches");
  }
  const int behind =
      int{row.guest.has_value()} + row.name_space.has_value() + row.verbs.has_value() + row.edge.has_value();
  if (behind > 1) reader.fail(row.where, "needs at most one of guest, namespace, verbs, edge");
}

void add_node(Reader& reader, Collected& out, const Named<NodeRow>::Item& item) {
  const NodeRow& row = item.value;
  const auto found = out.draft.by_name.find(item.name);
  if (found != out.draft.by_name.end()) {
    DraftNode& node = out.draft.nodes[found->second];
    if (!node.where.path().empty()) return;  // the key stands twice: the document has complained
    if (row.kind && *row.kind != node.kind) {
      reader.fail(row.where.child("kind"), "the generated " + item.name + " is a " + std::string(word_of(node.kind)));
    }
    if (row.role && node.kind == NodeKind::kSwitch) node.role = *row.role;
    node.where = item.key;
    out.rows[found->second] = &row;
    check_keys_fit(reader, row, node.kind, item.name);
    return;
  }
  if (!row.kind && out.names_known && row.where.kind() == ValueKind::kMap) {
    reader.fail(row.where, "the key 'kind' is missing: switch or host");
  }
  const NodeKind kind = row.kind.value_or(row.role || row.profile ? NodeKind::kSwitch : NodeKind::kHost);
  const uint32_t index = kind == NodeKind::kSwitch ? out.draft.add_switch(item.name, row.role.value_or(Role::kTor))
                                                   : out.draft.add_host(item.name, row.server.value_or(""));
  out.draft.nodes[index].where = item.key;
  out.rows.push_back(&row);
  if (row.kind) check_keys_fit(reader, row, kind, item.name);
}

class LinkCollector {
 public:
  LinkCollector(Reader& reader, Collected& out) : reader_(reader), out_(out) {
    for (const DraftNode& node : out.draft.nodes) names_.push_back(node.name);
  }

  void add(const LinkRow& row) {
    if (row.endpoints.size() != 2) return;
    const Value ends = row.where.child("endpoints");
    DraftLink link{.rate = row.rate, .length = row.length, .mtu = row.mtu, .parameters = row.parameters};
    const std::vector<Value> places = ends.each();
    const bool a = find(row.endpoints[0], places[0], link.a);
    const bool b = find(row.endpoints[1], places[1], link.b);
    if (!a || !b) {
      out_.links_known = false;
      return;
    }
    if (link.a.node == link.b.node) {
      reader_.fail(ends, "joins " + row.endpoints[0].node + " to itself");
      return;
    }
    out_.draft.links.push_back(std::move(link));
  }

 private:
  bool find(const Endpoint& end, Value where, DraftEnd& out) {
    if (end.node.empty()) return false;  // could not be read
    const auto found = out_.draft.by_name.find(end.node);
    if (found == out_.draft.by_name.end()) {
      if (out_.names_known)
        reader_.fail(where, "there is no node " + shown(end.node) + reader_.guess(end.node, names_));
      return false;
    }
    out = {found->second, end.port, where};
    return true;
  }

  Reader& reader_;
  Collected& out_;
  std::vector<std::string_view> names_;
};

}  // namespace

Collected collect(Reader& reader, const TestbedRow& row) {
  Collected out;
  out.names_known = collect_generated(reader, row, out.draft);
  out.links_known = out.names_known && (!row.topology || row.topology->links.good);
  if (row.topology && row.topology->imported.given) {
    const Tried<ImportRow>& imported = row.topology->imported;
    if (imported.good) add_imported(reader, imported.value, out);
    out.names_known = out.names_known && imported.good;
    out.links_known = out.links_known && imported.good;
  }
  out.rows.resize(out.draft.nodes.size(), nullptr);
  if (!row.topology) return out;
  for (const auto& item : row.topology->nodes.items) add_node(reader, out, item);
  LinkCollector links(reader, out);
  for (const LinkRow& link : row.topology->links.value) links.add(link);
  return out;
}

}  // namespace softspine::control
