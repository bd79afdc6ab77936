// SPDX-License-Identifier: Apache-2.0
#include "control/topology/bonds.hpp"

#include <algorithm>
#include <utility>

#include "control/rows/tables.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;

Bond bond_of(const BondRow& row) {
  Bond bond;
  bond.mode = row.mode.value_or(bond.mode);
  if (bond.mode == BondMode::kLacp) bond.lacp_rate = row.lacp_rate;
  bond.fast_rate = row.fast_rate.value_or(bond.fast_rate);
  bond.retry_count = row.retry_count.value_or(bond.retry_count);
  bond.xmit_hash_policy = row.xmit_hash_policy.value_or(bond.xmit_hash_policy);
  bond.miimon = row.miimon.value_or(bond.miimon);
  bond.downdelay = row.downdelay.value_or(bond.downdelay);
  bond.updelay = row.updelay.value_or(bond.updelay);
  bond.remote_failover = row.remote_failover.value_or(bond.remote_failover);
  bond.path_change_after = row.path_change_after.value_or(bond.path_change_after);
  return bond;
}

// `speaks`: some host that the row is of exchanges LACPDUs.
void check_rates(Reader& reader, const BondRow& row, const Bond& bond, bool speaks) {
  const bool is_lacp = bond.mode == BondMode::kLacp;
  if (row.lacp_rate && !is_lacp) reader.fail(row.where.child("lacp_rate"), "goes with 'mode: lacp' only");
  for (const auto& [key, given] :
       {std::pair("fast_rate", row.fast_rate.has_value()), std::pair("retry_count", row.retry_count.has_value())}) {
    if (given && !is_lacp) reader.fail(row.where.child(key), "goes with 'mode: lacp' only");
    if (given && is_lacp && !speaks)
      reader.warn(row.where.child(key), "has no effect: without lacp_rate built-in hosts exchange no LACPDUs");
  }
}

bool speaks_lacp(const FabricNode& node, const Bond& bond) {
  return !is_builtin(node.attachment) || bond.lacp_rate.has_value();
}

// Whether any host whose generator has the row speaks LACP.
bool any_speaks_lacp(const Expanded& out, const BondRow& row) {
  const Bond bond = bond_of(row);
  for (size_t i = 0; i < out.fabric.nodes.size(); ++i) {
    if (out.bonds[i] != &row) continue;
    if (speaks_lacp(out.fabric.nodes[i], bond)) return true;
    if (out.rows[i] != nullptr && out.rows[i]->bond && out.rows[i]->bond->lacp_rate) return true;
  }
  return false;
}

// LACP joins ports to one system; back to back there is none, and two ports of one switch are no two ToRs.
bool has_two_switches(const Fabric& fabric, const FabricNode& node) {
  const auto peer_of = [&](const FabricPort& port) {
    const FabricLink& link = fabric.links[port.link];
    return &fabric.nodes[link.a.node] == &node ? link.b.node : link.a.node;
  };
  const uint32_t first = peer_of(node.ports[0]);
  const uint32_t second = peer_of(node.ports[1]);
  return first != second && fabric.nodes[first].kind == NodeKind::kSwitch &&
         fabric.nodes[second].kind == NodeKind::kSwitch;
}

// Wherever it stands, LACPDUs do not wait for credit.
void check_lacp(Reader& reader, const Fabric& fabric, const FabricNode& node, Value where) {
  if (node.ports.size() != 2) return;
  if (!has_two_switches(fabric, node)) {
    reader.fail(where, "is for hosts at two switches, and " + node.name + " is at none or one");
  } else if (std::ranges::any_of(node.ports, [&](const FabricPort& port) {
               return fabric.links[port.link].parameters.flow_control == FlowControl::kCredit;
             })) {
    reader.fail(where, "does not go with 'flow_control: credit'");
  }
}

// Looks come at multiples of miimon, so other delays cannot be kept.
void check_delays(Reader& reader, const BondRow& row, const Bond& bond) {
  const auto look = [&](const std::optional<Duration>& given, std::string_view key) {
    if (!given || given->count_ps() == 0) return;
    if (bond.miimon.count_ps() == 0) {
      reader.warn(row.where.child(key), "has no effect: miimon is 0, so the host never looks at its links");
    } else if (given->count_ps() % bond.miimon.count_ps() != 0) {
      reader.warn(row.where.child(key), "is rounded down to a multiple of miimon");
    }
  };
  look(row.downdelay, "downdelay");
  look(row.updelay, "updelay");
}

// A host behind edges bonds them as it likes. The fabric only asks whether it speaks LACP, and how others reach it.
void check_edges(Reader& reader, const FabricNode& node, const BondRow& row) {
  const auto refuse = [&](bool given, std::string_view key) {
    if (given) reader.fail(row.where.child(key), "is decided by what is behind the edges of " + node.name);
  };
  refuse(row.lacp_rate.has_value(), "lacp_rate");
  refuse(row.xmit_hash_policy.has_value(), "xmit_hash_policy");
  refuse(row.miimon.has_value(), "miimon");
  refuse(row.downdelay.has_value(), "downdelay");
  refuse(row.updelay.has_value(), "updelay");
  refuse(row.path_change_after.has_value(), "path_change_after");
}

void check_host(Reader& reader, const Fabric& fabric, const FabricNode& node, const BondRow& row) {
  if (node.ports.size() != 2) {
    reader.fail(row.where,
                "is for hosts with two links, and " + node.name + " has " + std::to_string(node.ports.size()));
  } else if (is_started(node.attachment)) {
    reader.fail(row.where, "is for built-in hosts and edges, and something else stands behind " + node.name);
  } else if (node.bond.mode == BondMode::kLacp &&
             fabric.links[node.ports[0].link].rate != fabric.links[node.ports[1].link].rate) {
    reader.fail(row.where, "needs links of one rate: LACP aggregates no others");
  }
  if (std::holds_alternative<EdgeHost>(node.attachment)) check_edges(reader, node, row);
}

}  // namespace

void bond_hosts(Reader& reader, Expanded& out) {
  const BondRow* checked = nullptr;  // the generator's that was checked last
  for (size_t i = 0; i < out.fabric.nodes.size(); ++i) {
    FabricNode& node = out.fabric.nodes[i];
    if (node.kind != NodeKind::kHost) continue;
    const BondRow* const all = out.bonds[i];
    node.bond = all != nullptr ? bond_of(*all) : Bond{};
    if (all != nullptr && std::exchange(checked, all) != all) {
      check_delays(reader, *all, node.bond);
      check_rates(reader, *all, node.bond, !all->fast_rate || any_speaks_lacp(out, *all));
    }
    const BondRow* given = all;
    if (out.rows[i] != nullptr && out.rows[i]->bond) {
      const BondRow& own = *out.rows[i]->bond;
      BondRow merged = all != nullptr ? *all : BondRow{};
      Tables<BondRow>::table().merge(own, merged);
      node.bond = bond_of(merged);
      check_delays(reader, own, node.bond);
      check_rates(reader, own, node.bond, speaks_lacp(node, node.bond));
      check_host(reader, out.fabric, node, own);
      if (own.lacp_rate) given = &own;
    }
    if (node.bond.lacp_rate && is_builtin(node.attachment))
      check_lacp(reader, out.fabric, node, given->where.child("lacp_rate"));
  }
}

}  // namespace softspine::control
