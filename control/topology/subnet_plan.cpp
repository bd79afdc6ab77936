// SPDX-License-Identifier: Apache-2.0
#include "control/topology/subnet_plan.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "control/topology/given_subnets.hpp"
#include "control/topology/planned_addresses.hpp"

namespace softspine::control {
namespace {

constexpr uint32_t kReservedHosts = 3;  // network, gateway, broadcast

class SubnetPlan {
 public:
  SubnetPlan(Reader& reader, Expanded& out) : reader_(reader), out_(out), fabric_(out.fabric) {}

  void run() {
    group_hosts();
    const std::vector<GivenSubnet> given = read_subnets(reader_, out_);
    for (const GivenSubnet& g : given) {
      if (g.v4) taken_.emplace(g.v4->address.value, g.v4->last().value);
    }
    uint32_t cursor = kFirstPlanned;
    for (size_t i = 0; i < fabric_.subnets.size(); ++i) {
      Subnet& subnet = fabric_.subnets[i];
      subnet.v4 = given[i].v4 ? *given[i].v4 : next_planned(subnet, cursor);
      subnet.v6 = given[i].v6 ? *given[i].v6 : Ipv6Prefix{planned_ipv6(0, static_cast<uint32_t>(i) + 1, 0), 64};
      subnet.gateway4 = {subnet.v4.address.value + 1};
      subnet.gateway6 = ipv6_in(subnet.v6, 1);
    }
  }

 private:
  // The nodes that a host is attached to: the switches on the other side of its ports; for a pair back to back, the
  // pair.
  std::vector<uint32_t> attached_to(uint32_t host) const {
    std::vector<uint32_t> out;
    for (uint16_t p = 0; p < fabric_.nodes[host].ports.size(); ++p) {
      if (fabric_.nodes[host].ports[p].link == kNone) continue;
      const uint32_t peer = fabric_.peer_of({host, p}).node;
      out.push_back(peer);
      if (fabric_.nodes[peer].kind == NodeKind::kHost) out.push_back(host);
    }
    std::ranges::sort(out);
    const auto repeated = std::ranges::unique(out);
    out.erase(repeated.begin(), repeated.end());
    return out;
  }

  void group_hosts() {
    std::map<std::pair<std::vector<uint32_t>, uint16_t>, uint32_t> groups;  // by switches and VLAN
    for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
      FabricNode& node = fabric_.nodes[n];
      if (node.kind != NodeKind::kHost || node.ports.empty()) continue;
      auto switches = attached_to(n);
      const bool back_to_back = std::ranges::binary_search(switches, n);
      if (back_to_back && node.ports.size() > 1) {
        reader_.fail(
            out_.rows[n] == nullptr ? Value{} : out_.rows[n]->where,
            node.name + " is linked to a host and has another link: hosts do not forward, put a switch between");
      }
      const auto [group, is_new] =
          groups.emplace(std::pair{switches, node.vlan.id}, static_cast<uint32_t>(fabric_.subnets.size()));
      if (is_new) {
        if (back_to_back) switches.clear();
        fabric_.subnets.push_back({.vlan = node.vlan.id, .switches = std::move(switches)});
      }
      node.subnet = group->second;
      fabric_.subnets[node.subnet].hosts.push_back(n);
    }
  }

  Ipv4Prefix next_planned(const Subnet& subnet, uint32_t& cursor) {
    const uint64_t needed = subnet.hosts.size() + kReservedHosts;
    const auto size = static_cast<uint32_t>(std::bit_ceil(std::max<uint64_t>(needed, 256)));
    const auto length = static_cast<uint8_t>(32 - std::countr_zero(size));
    for (;;) {
      cursor = (cursor + size - 1) / size * size;
      const auto after = taken_.lower_bound(cursor);  // the first that begins here or later
      if (after != taken_.begin() && std::prev(after)->second >= cursor) {
        cursor = std::prev(after)->second + 1;
      } else if (after != taken_.end() && after->first - cursor < size) {
        cursor = after->second + 1;
      } else {
        break;
      }
    }
    const Ipv4Prefix out{{cursor}, length};
    if (cursor >= kLoopbacks || kLoopbacks - cursor < size) {
      if (!ran_out_) reader_.fail({}, "the hosts' IPv4 addresses run out (10.0.1.0 to 10.254.255.255)");
      ran_out_ = true;
      cursor = kFirstPlanned;
    }
    cursor += size;
    return out;
  }

  Reader& reader_;
  Expanded& out_;
  Fabric& fabric_;
  std::map<uint32_t, uint32_t> taken_;  // given IPv4 subnets: first and last address
  bool ran_out_ = false;
};

}  // namespace

void plan_subnets(Reader& reader, Expanded& out) {
  SubnetPlan(reader, out).run();
}

}  // namespace softspine::control
