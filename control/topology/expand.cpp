// SPDX-License-Identifier: Apache-2.0
#include "control/topology/expand.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>

#include "control/topology/address_plan.hpp"
#include "control/topology/attach.hpp"
#include "control/topology/bonds.hpp"
#include "control/topology/collect.hpp"
#include "control/topology/lags.hpp"
#include "control/topology/node_order.hpp"
#include "control/topology/port_channels.hpp"
#include "control/topology/ports.hpp"
#include "control/topology/stacks.hpp"
#include "control/topology/vlans.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::control {
namespace {

constexpr uint32_t kDefaultMtu = 9100;

class Expansion {
 public:
  Expansion(Reader& reader, const TestbedRow& row, const std::vector<Profile>& profiles)
      : reader_(reader), row_(row), profiles_(profiles), collected_(collect(reader, row)) {}

  Expanded run() {
    name_profiles();
    if (!place_nodes()) return {.names_known = false};
    place_links();
    if (collected_.links_known) check_connected();
    if (collected_.links_known && row_.topology) join_all_lags();
    if (collected_.links_known) join_port_channels(reader_, profiles_, out_.fabric);
    attach_hosts(reader_, out_);
    bond_hosts(reader_, out_);
    join_vlans(reader_, out_);
    if (collected_.names_known && collected_.links_known) stack_switches(reader_, row_, out_);
    check_credit();
    plan_addresses(reader_, out_);
    out_.names_known = collected_.names_known;
    out_.staged = std::move(collected_.draft.staged);
    return std::move(out_);
  }

 private:
  void name_profiles() {
    for (uint32_t i = 0; i < profiles_.size(); ++i) {
      profile_by_name_.emplace(profiles_[i].name, i);
      profile_names_.push_back(profiles_[i].name);
    }
    for (size_t i = 0; i < kSwitchRoles.size(); ++i) {
      const auto& name = row_.roles.*kProfileOfRole[i];
      by_role_[i] = profile_index(name.value_or("default"), row_.roles.where.child(kSwitchRoles[i].word));
    }
  }

  uint32_t profile_index(const std::string& name, Value where) {
    if (reader_.is_invalid(where)) return 0;
    const auto found = profile_by_name_.find(name);
    if (found != profile_by_name_.end()) return found->second;
    reader_.fail(where, "there is no profile " + shown(name) + reader_.guess(name, profile_names_));
    return 0;
  }

  // False if a node has more ports than can be numbered.
  bool place_nodes() {
    const Draft& draft = collected_.draft;
    const auto ports = plan_ports(reader_, draft);
    if (std::ranges::any_of(ports, [](const auto& list) { return list.size() > dataplane::kMaxPorts; })) return false;
    end_place_.resize(draft.links.size());
    for (const uint32_t from : fabric_order(draft)) {
      const auto index = static_cast<uint32_t>(out_.fabric.nodes.size());
      const NodeRow* row = collected_.rows[from];
      out_.fabric.nodes.push_back(make_node(draft.nodes[from], row));
      out_.rows.push_back(row);
      out_.bonds.push_back(draft.nodes[from].bond);
      out_.vlans.push_back(draft.nodes[from].vlan);
      for (const PlannedPort& port : ports[from]) {
        auto& list = out_.fabric.nodes.back().ports;
        const auto number = static_cast<uint16_t>(list.size());
        (port.is_b ? end_place_[port.link].second : end_place_[port.link].first) = {index, number};
        list.push_back({.name = port.name});
      }
    }
    return true;
  }

  FabricNode make_node(const DraftNode& from, const NodeRow* row) {
    FabricNode node{.name = from.name, .kind = from.kind, .role = from.role, .plane = from.plane, .rail = from.rail};
    if (node.kind == NodeKind::kSwitch) {
      const bool named = row != nullptr && row->profile;
      node.profile =
          named ? profile_index(*row->profile, row->where.child("profile")) : by_role_[static_cast<size_t>(node.role)];
      return node;
    }
    node.server = row != nullptr && row->server ? *row->server : from.server.empty() ? from.name : from.server;
    return node;
  }

  void place_links() {
    const Draft& draft = collected_.draft;
    std::vector<uint32_t> order(draft.links.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    for (auto& [a, b] : end_place_) {
      if (b < a) std::swap(a, b);
    }
    std::ranges::sort(order, [&](uint32_t x, uint32_t y) { return end_place_[x] < end_place_[y]; });
    for (const uint32_t from : order) {
      const auto [a, b] = end_place_[from];
      const auto index = static_cast<uint32_t>(out_.fabric.links.size());
      out_.fabric.nodes[a.node].ports[a.port].link = index;
      out_.fabric.nodes[b.node].ports[b.port].link = index;
      const DraftLink& link = draft.links[from];
      const auto damaged = collected_.damaged.find(from);
      if (damaged != collected_.damaged.end()) out_.damaged.push_back({index, damaged->second});
      out_.fabric.links.push_back({.a = a,
                                   .b = b,
                                   .rate = link.rate,
                                   .propagation = propagation_of(link.length),
                                   .mtu = mtu_of(link, a, b),
                                   .parameters = link.parameters});
    }
  }

  uint32_t mtu_of(const DraftLink& link, LinkEnd a, LinkEnd b) const {
    if (link.mtu) return *link.mtu;
    uint32_t mtu = UINT32_MAX;
    for (const LinkEnd end : {a, b}) {
      const uint32_t profile = out_.fabric.nodes[end.node].profile;
      if (profile != kNone) mtu = std::min(mtu, profiles_[profile].mtu);
    }
    return mtu == UINT32_MAX ? kDefaultMtu : mtu;
  }

  void join_all_lags() {
    std::vector<LagRow> all = row_.topology->lags;
    std::ranges::move(collected_.lags, std::back_inserter(all));
    join_lags(reader_, all, out_.fabric);
  }

  // Frames of a kernel or a NIC cannot be held back one by one.
  void check_credit() {
    for (const FabricLink& link : out_.fabric.links) {
      if (link.parameters.flow_control != FlowControl::kCredit) continue;
      for (const LinkEnd end : {link.a, link.b}) {
        const FabricNode& node = out_.fabric.nodes[end.node];
        if (node.kind == NodeKind::kSwitch || is_builtin(node.attachment)) continue;
        reader_.fail(out_.rows[end.node]->where,
                     "stands on a link with flow_control: credit; only switches and built-in hosts can");
      }
    }
  }

  void check_connected() {
    for (size_t i = 0; i < out_.fabric.nodes.size(); ++i) {
      const bool alone = out_.fabric.nodes[i].ports.empty() && out_.rows[i] != nullptr;
      if (alone) reader_.fail(out_.rows[i]->where, out_.fabric.nodes[i].name + " has no link");
    }
  }

  Reader& reader_;
  const TestbedRow& row_;
  const std::vector<Profile>& profiles_;
  Collected collected_;
  Expanded out_;
  std::unordered_map<std::string_view, uint32_t> profile_by_name_;
  std::vector<std::string_view> profile_names_;
  std::array<uint32_t, kSwitchRoles.size()> by_role_{};
  std::vector<std::pair<LinkEnd, LinkEnd>> end_place_;  // of a draft's link
};

}  // namespace

Expanded expand(Reader& reader, const TestbedRow& row, const std::vector<Profile>& profiles) {
  return Expansion(reader, row, profiles).run();
}

}  // namespace softspine::control
